import type { TaskKindJson } from '@reelgate/proto/tasks/v1/order';
import type { QueueClassJson } from '@reelgate/proto/tasks/v1/queue';
import type { QueueReasonJson } from '@reelgate/proto/tasks/v1/queue_service';

/** A decision of an operator over what waits for a channel. */
export type QueueChange = 'weight' | 'hold' | 'release' | 'cancel';

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
  inUse: (id: string, used: string, most: string) => `${id} ${used} of ${most}`,
  weight: 'Weight',
  share: 'Share',
  why: 'Why',
  acts: 'Decisions',
  scheduled: 'at their time',
  reasons: {
    QUEUE_REASON_UNSPECIFIED: '',
    QUEUE_REASON_BEHIND_OTHERS: 'its turn comes',
    QUEUE_REASON_CHANNEL_LIMIT: 'every channel is at a limit',
    QUEUE_REASON_CHANNEL_DOWN: 'the circuit of every channel is open',
    QUEUE_REASON_CHANNEL_PAUSED: 'every channel is paused',
    QUEUE_REASON_NO_CHANNEL: 'no channel can do it',
    QUEUE_REASON_OWN_LIMIT: 'its token is at its limit',
    QUEUE_REASON_BEHIND_OWN_TASKS: 'behind tasks of its own token',
    QUEUE_REASON_CLASS: 'a better class waits',
    QUEUE_REASON_HELD: 'held by an operator',
    QUEUE_REASON_SCHEDULED: 'its time has not come',
  } satisfies Record<QueueReasonJson, string>,
  kinds: {
    TASK_KIND_UNSPECIFIED: '',
    TASK_KIND_GENERATION: 'generation',
    TASK_KIND_REGENERATION: 'regeneration',
    TASK_KIND_CONTEXT_IR: 'context_ir',
  } satisfies Record<TaskKindJson, string>,
  classes: {
    QUEUE_CLASS_UNSPECIFIED: '',
    QUEUE_CLASS_INTERACTIVE: 'interactive',
    QUEUE_CLASS_STANDARD: 'standard',
    QUEUE_CLASS_BATCH: 'batch',
  } satisfies Record<QueueClassJson, string>,
  changes: { weight: 'Set weight', hold: 'Hold', release: 'Release', cancel: 'Cancel' } satisfies Record<
    QueueChange,
    string
  >,
  titles: {
    weight: (subject: string) => `Set the weight of ${subject}`,
    hold: (subject: string) => `Hold ${subject}`,
    release: (subject: string) => `Release ${subject}`,
    cancel: (subject: string) => `Cancel what waits of ${subject}`,
  } satisfies Record<QueueChange, (subject: string) => string>,
  texts: {
    weight: 'An account with the weight 2 gets twice the turns of one with the weight 1, in every lane.',
    hold: 'Its tasks get no turns until they are released. They still end at their time.',
    release: 'Its tasks get turns again at once.',
    cancel: 'Its tasks that wait fail, up to 1000 at once. Their money is free again. This cannot be undone.',
  } satisfies Record<QueueChange, string>,
  did: {
    weight: (subject: string) => `The weight of ${subject} is set`,
    hold: (subject: string) => `${subject} is held`,
    release: (subject: string) => `${subject} is released`,
    cancel: (subject: string) => `What waited of ${subject} is cancelled`,
  } satisfies Record<QueueChange, (subject: string) => string>,
  moreWait: (subject: string) => `Many tasks of ${subject} are cancelled, and more wait. Cancel once more`,
  weightHint: 'A whole number from 1 to 1000.',
  placeOf: (ofClass: string, before: number) =>
    `class ${ofClass}, ${before === 1 ? '1 task' : `${before} tasks`} of its token before it`,
  expected: 'expected',
  failsAt: 'fails without a turn at',
} as const;
