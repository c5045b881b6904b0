import type { FoundKind, FoundWay } from '../../api/operator-search.ts';
import type { Runbook } from '../../api/operator-status.ts';

/** The texts of the status line, the search, the page of a channel, the hand-over and the notes. */
export const watchWords = {
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
    title: 'Search',
    label: 'Search',
    placeholder: 'Any id, or words of a prompt',
    hint: 'Press / to search',
    lead: 'By the id of a task, a job, an upstream, a request, a trace, a token, an account or a channel, or by words of a prompt.',
    none: (value: string) => `Nothing was found for “${value}”.`,
    noneHint: 'An id must be whole. Words are those of prompts; an account is found by its beginning.',
    found: 'Found',
    what: 'What',
    id: 'Id',
    by: 'Found by',
    account: 'Account',
    model: 'Model',
    state: 'State',
    created: 'Created',
    kinds: {
      task: 'Task',
      job: 'Job',
      account: 'Account',
      token: 'Token',
      channel: 'Channel',
    } as const satisfies Readonly<Record<FoundKind, string>>,
    ways: {
      id: 'its id',
      upstream_id: 'the id at the upstream',
      request_id: 'the request',
      trace_id: 'the trace',
      prefix: 'the beginning of its id',
      words: 'words of its prompt',
    } as const satisfies Readonly<Record<FoundWay, string>>,
    unavailable: (places: string) => `Could not be searched now: ${places}.`,
  },
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
  channel: {
    title: 'Channel',
    back: 'Channels',
    open: 'Latency, failures, prices and margin',
    latency: 'Time to answer in the last hour',
    latencyText: 'Half of the answers came within the lower line, 95 % within the upper one.',
    latencyTable: 'Time to answer by the minute',
    minute: 'Minute',
    half: 'Half within',
    most: '95 % within',
    noLatency: 'No attempt was answered in the last hour.',
    faults: 'Faults by the minute',
    failures: 'Last failures',
    noFailures: 'Nothing failed here within a day.',
    when: 'When',
    what: 'What',
    task: 'Task',
    error: 'Error',
    kinds: { attempt: 'Attempt', poll: 'Poll', task: 'Task failed' } as Readonly<Record<string, string>>,
    queue: 'Its queue',
    noQueue: 'No task waits for it.',
    waiting: 'Waiting',
    oldest: 'Oldest',
    turns: 'Turns a minute',
    why: 'Why it waits',
    margin: 'Margin of the last day',
    prices: 'Prices of its models',
    noPrices: 'Its models have no price.',
    unreadable: 'This part could not be read now.',
    returns: 'comes back',
    forHowLong: 'For how long',
    durations: [
      { value: '900', name: '15 minutes' },
      { value: '1800', name: '30 minutes' },
      { value: '3600', name: 'an hour' },
      { value: '14400', name: '4 hours' },
      { value: '28800', name: '8 hours' },
      { value: '86400', name: 'a day' },
      { value: '', name: 'until it is resumed' },
    ],
    didPauseFor: (id: string, time: string) => `${id} is paused until ${time}.`,
  },
  notes: {
    title: 'Notes for the next person',
    none: 'No note is here.',
    label: 'New note',
    hint: (most: number) => `Everybody at this console sees it, at most ${most} characters.`,
    add: 'Leave the note',
    resolve: 'Resolve',
    remove: 'Delete',
    of: (author: string) => `by ${author}`,
    did: { add: 'The note is left.', resolve: 'The note is resolved.', remove: 'The note is deleted.' },
    which: (text: string) => `the note “${text}”`,
  },
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
    raised: (reason: string) => `Began to wait for a decision: ${reason}`,
    open: 'still waits',
    decided: 'is decided',
  },
  runbook: {
    title: 'Runbook',
    unknown: 'There is no such alert.',
  },
} as const;

function more(count: number): string {
  return count === 0 ? '' : ` and ${count} more`;
}

function accountNoun(count: number): string {
  return count === 1 ? 'account' : 'accounts';
}
