/** The texts of the faults of the last hour. */
export const faultWords = {
  faults: {
    title: 'Faults of the last hour',
    channels: 'By channel',
    models: 'By model',
    accounts: 'By account',
    none: 'None failed in the last hour.',
    others: 'All others',
    counts: (byUpstream: number, byUs: number) =>
      [byUpstream === 0 ? '' : `${byUpstream} by upstreams`, byUs === 0 ? '' : `${byUs} by us`]
        .filter((part) => part !== '')
        .join(', '),
    byClient: (count: number) => `${count} by clients`,
    attempts: (count: number) => `${count} attempts, polls and tasks`,
    table: 'The figures by ten minutes',
    subject: 'Name',
    from: (minutes: number) => `${minutes} to ${minutes - 10} min ago`,
    more: (count: number) => `and ${count} more`,
  },
} as const;
