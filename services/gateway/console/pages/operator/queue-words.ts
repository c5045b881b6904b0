import type { WaitReason, WaitingChange } from '../../api/operator-waiting.ts';

/** The texts about the tasks that wait for a channel. Only the pages that show them load them. */
export const queueWords = {
  title: 'Queue',
  needed: 'weigh, hold and cancel what waits',
  intro: (count: number, most: number) =>
    `Tasks that wait for a channel: ${count.toLocaleString('en')}${most === 0 ? '' : ` of at most ${most.toLocaleString('en')}`}.`,
  lanes: 'Lanes',
  accounts: 'Accounts',
  empty: 'No task waits for a channel.',
  emptyText: 'When every channel is at a limit, what waits for its turn stands here, by lane and by account.',
  more: 'More accounts wait. The command queue list finds them.',
  model: 'Model',
  kind: 'Kind',
  class: 'Class',
  account: 'Account',
  waiting: 'Waiting',
  oldest: 'Oldest',
  turns: 'Turns a minute',
  channels: 'Channels in use',
  inUse: (id: string, used: number, most: number) => `${id} ${used} of ${most}`,
  weight: 'Weight',
  share: 'Share',
  why: 'Why',
  acts: 'Decisions',
  scheduled: 'at their time',
  reasons: {
    behind_others: 'its turn comes',
    channel_limit: 'every channel is at a limit',
    channel_down: 'the circuit of every channel is open',
    channel_paused: 'every channel is paused',
    no_channel: 'no channel can do it',
    own_limit: 'its token is at its limit',
    behind_own_tasks: 'behind tasks of its own token',
    class: 'a better class waits',
    held: 'held by an operator',
    scheduled: 'its time has not come',
  } satisfies Record<WaitReason, string>,
  changes: { weight: 'Set weight', hold: 'Hold', release: 'Release', cancel: 'Cancel' } satisfies Record<
    WaitingChange,
    string
  >,
  titles: {
    weight: (subject: string) => `Set the weight of ${subject}`,
    hold: (subject: string) => `Hold ${subject}`,
    release: (subject: string) => `Release ${subject}`,
    cancel: (subject: string) => `Cancel what waits of ${subject}`,
  } satisfies Record<WaitingChange, (subject: string) => string>,
  texts: {
    weight: 'An account with the weight 2 gets twice the turns of one with the weight 1, in every lane.',
    hold: 'Its tasks get no turns until they are released. They still end at their time.',
    release: 'Its tasks get turns again at once.',
    cancel: 'Its tasks that wait fail, up to 1000 at once. Their money is free again. This cannot be undone.',
  } satisfies Record<WaitingChange, string>,
  did: {
    weight: (subject: string) => `The weight of ${subject} is set`,
    hold: (subject: string) => `${subject} is held`,
    release: (subject: string) => `${subject} is released`,
    cancel: (subject: string) => `What waited of ${subject} is cancelled`,
  } satisfies Record<WaitingChange, (subject: string) => string>,
  moreWait: (subject: string) => `Many tasks of ${subject} are cancelled, and more wait. Cancel once more`,
  weightHint: 'A whole number from 1 to 1000.',
  placeOf: (ofClass: string, before: number) =>
    `class ${ofClass}, ${before === 1 ? '1 task' : `${before} tasks`} of its token before it`,
  expected: 'expected',
  failsAt: 'fails without a turn at',
} as const;
