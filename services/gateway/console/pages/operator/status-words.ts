import type { Runbook } from '../../api/operator-status.ts';

/** The texts of the line above every page. */
export const statusWords = {
  status: {
    label: 'What is wrong',
    fine: 'All is well',
    since: 'since',
    hits: (models: readonly string[], moreModels: number, accounts: readonly string[], moreAccounts: number) =>
      [
        models.length === 0 ? '' : `${models.join(', ')}${more(moreModels)}`,
        accounts.length === 0
          ? ''
          : `${accountNoun(accounts.length + moreAccounts)} ${accounts.join(', ')}${more(moreAccounts)}`,
      ]
        .filter((part) => part !== '')
        .join('; '),
    hit: 'Hit:',
    todo: {
      ReelgateServiceAbsent: 'See whether its processes run and answer.',
      ReelgatePeerUnreachable: 'See whether its processes run, and whether the network lets this one through.',
      ReelgateNoChannel: 'Test the most used channel of these models first.',
      ReelgateChannelDown: 'Test the channel; pause it while its upstream is ill.',
      ReelgateChannelRefuses: 'Read the last failures of the channel.',
      ReelgatePollLag: 'See whether the database is slow or pollers are too few.',
      ReelgateSettlementBehind: 'See whether billing answers.',
      ReelgateAttentionWaiting: 'Decide over what waits.',
      ReelgateConfigRefused: 'Mend the file; the page says which line.',
    } as const satisfies Readonly<Record<Runbook, string>>,
    show: 'Show it',
    runbook: 'Runbook',
    more: (count: number) => (count === 1 ? 'and one more' : `and ${count} more`),
    spoken: (what: string) => `Status: ${what}`,
  },
  search: {
    label: 'Search',
    everything: 'Search everything',
    placeholder: 'Any id, or words of a prompt',
    hint: 'Press / to search',
  },
} as const;

function more(count: number): string {
  return count === 0 ? '' : ` and ${count} more`;
}

function accountNoun(count: number): string {
  return count === 1 ? 'account' : 'accounts';
}
