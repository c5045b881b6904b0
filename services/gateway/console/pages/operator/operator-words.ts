import type { Runbook } from '../../api/operator-status.ts';
import type { OperatorMe } from '../../api/session.ts';

/** The texts of the operators' pages. A client never loads them. */
export const operatorWords = {
  /** Beside the name of the queue, in the navigation and in the title of the tab. */
  waiting: {
    shown: (count: number, more: boolean) => `${count}${more ? '+' : ''}`,
    label: (count: number, more: boolean) => (more ? `more than ${count} waiting` : `${count} waiting`),
    unknown: 'not known how many wait',
    spoken: (count: number) => (count === 1 ? 'One waits for a decision' : `${count} wait for a decision`),
  },
  nav: {
    now: 'Now',
    handOver: 'Hand-over',
    attention: 'Attention',
    tasks: 'Tasks',
    queue: 'Queue',
    channels: 'Channels',
    money: 'Money',
    accounts: 'Accounts',
    jobs: 'Jobs',
    configuration: 'Configuration',
  },
  signIn: { key: 'Operator key' },
  /** Told instead of what a visitor may not do. */
  needsRole: (needed: OperatorMe['role'], to: string) => `You need the role ${needed} to ${to}.`,
  acts: {
    title: 'Audit log',
    none: 'Nothing is recorded yet. What operators do stands here, with who did it, when and why.',
    when: 'When',
    who: 'Who',
    what: 'What',
    why: 'Why',
    names: {
      channel_paused: 'Paused channel',
      channel_resumed: 'Resumed channel',
      channel_returned: 'Pause ended by itself, of channel',
      note_added: 'Left a note on',
      note_resolved: 'Resolved a note on',
      note_deleted: 'Deleted a note on',
      channel_tested: 'Tested channel',
      attention_resolved: 'Decided over',
      queue_weight_set: 'Set the weight of',
      queue_held: 'Held',
      queue_released: 'Released',
      queue_task_moved: 'Moved in the queue',
      queue_cancelled: 'Cancelled in the queue',
      account_credited: 'Credited account',
      token_created: 'Made token',
      token_revoked: 'Revoked token',
      token_limits_changed: 'Changed the limits of token',
      ledger_verified: 'Verified the ledger',
    },
    passed: 'passed',
    failed: 'failed',
  },
  /** The decisions, as statements of what happened. */
  resolutions: {
    completed: 'The work was done',
    failed: 'The work is lost',
    retry: 'Try again',
  },
  reason: {
    label: 'Reason',
    hint: (most: number) => `Kept with the act, at most ${most} characters.`,
    missing: 'give a reason',
  },
  dialog: { cancel: 'Cancel', back: 'Back' },
  filters: {
    apply: 'Filter',
    clear: 'Remove the filters',
  },
} as const;

/** The texts of notes. */
export const noteWords = {
  notes: {
    title: 'Notes for the next person',
    none: 'No note is here.',
    open: (count: number) => (count === 0 ? 'Leave a note for the next person' : 'Add or resolve a note'),
    about: 'About',
    label: 'New note',
    hint: (most: number) => `Everybody at this console sees it, at most ${most} characters.`,
    add: 'Leave the note',
    resolve: 'Resolve',
    remove: 'Delete',
    of: (author: string) => `by ${author}`,
    did: { add: 'The note is left.', resolve: 'The note is resolved.', remove: 'The note is deleted.' },
    which: (text: string) => `the note “${text}”`,
  },
} as const;

/** The texts of the line above every page. */
export const statusWords = {
  status: {
    label: 'What is wrong',
    fine: 'All is well',
    since: '· began',
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
    rest: 'More',
    less: 'Less',
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
