/** The texts of the hand-over and of the runbook. */
export const handOverWords = {
  handOver: {
    title: 'Hand-over',
    lead: (name: string) => `What happened since ${name} has read last.`,
    first: 'You have read nothing yet, so this is the last week.',
    since: 'Since',
    none: 'Nothing has happened since.',
    noneText:
      'Acts of operators, circuits that open, configurations that are applied and tasks that wait for a decision will be here.',
    mark: 'I have read this',
    marked: 'Read until here. What comes next is listed the next time.',
    more: 'More happened than is shown here.',
    actsUnread:
      'What operators did cannot be read now, so this list is not whole and cannot be marked as read. It comes back by itself.',
    entries: 'What happened',
    when: 'When',
    what: 'What',
    about: 'About',
    who: 'By',
    why: 'Reason',
    you: 'you',
    byItself: '–',
    types: {
      circuit_opened: 'Circuit opened: the upstream failed too often',
      circuit_closed: 'Circuit closed: the upstream works again',
      configuration_applied: 'Configuration applied',
    } as Readonly<Record<string, string>>,
    services: (names: readonly string[]) => names.join(', '),
    raised: (reason: string) => `Began to wait for a decision: ${reason}`,
    open: 'still waits',
    decided: 'is decided',
  },
  runbook: {
    title: 'Runbook',
    unknown: 'There is no such alert.',
  },
} as const;
