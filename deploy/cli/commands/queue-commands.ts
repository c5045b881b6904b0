import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import { QueueClass, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePlace } from '@reelgate/proto/tasks/v1/queue';
import { QueueReason } from '@reelgate/proto/tasks/v1/queue_service';
import type { QueueAccount, QueueLane } from '@reelgate/proto/tasks/v1/queue_service';
import { WrongCall, assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { ACTOR_OPTION, readActor } from '../environment.ts';
import { WIDE_OPTION, asTable } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { KINDS } from '../format/task-record.ts';
import { isoTime, readDuration, relativeTime } from '../format/times.ts';

const CLASSES: Readonly<Record<string, QueueClass>> = deriveValues(QueueClass);
const CLASS_WORDS: Readonly<Record<number, string | undefined>> = deriveWords(QueueClass);
const REASONS = deriveWords(QueueReason, '');
const WAITS = deriveWords(QueueWait, '');

const LANE_COLUMNS: readonly Column<QueueLane>[] = [
  { title: 'MODEL', of: ({ model }) => model },
  { title: 'KIND', of: ({ kind }) => KINDS[kind], isWide: true },
  { title: 'CLASS', of: (lane) => nameClass(lane.class) },
  { title: 'WAITING', of: ({ waiting }) => String(waiting) },
  { title: 'OLDEST', of: ({ oldestSince }) => relativeTime(oldestSince) },
  { title: 'TURNS A MINUTE', of: ({ turnsPerMinute }) => turnsPerMinute.toFixed(1) },
  { title: 'CHANNELS', of: ({ channels }) => channels.map(formatChannel).join(','), shrinks: true },
  { title: 'WHY', of: ({ reason }) => REASONS[reason] },
];
const ACCOUNT_COLUMNS: readonly Column<QueueAccount>[] = [
  { title: 'ACCOUNT', of: ({ accountId }) => accountId },
  { title: 'MODEL', of: ({ model }) => model },
  { title: 'KIND', of: ({ kind }) => KINDS[kind], isWide: true },
  { title: 'CLASS', of: (account) => nameClass(account.class) },
  { title: 'WAITING', of: ({ waiting }) => String(waiting) },
  { title: 'OLDEST', of: ({ oldestSince }) => relativeTime(oldestSince) },
  { title: 'WEIGHT', of: ({ weight }) => String(weight) },
  { title: 'SHARE', of: ({ share }) => `${Math.round(share * 100)}%` },
  { title: 'WHY', of: ({ reason }) => REASONS[reason] },
];

const CLASS_OPTION = { value: 'CLASS', choices: Object.keys(CLASSES) } as const;
const REASON_OPTION = { value: 'TEXT', means: 'why, for the record', needed: true } as const;

export const queueList = defineCommand({
  summary: 'list the lanes in which tasks wait for a channel, and the accounts that wait in them',
  words: '',
  options: {
    model: { value: 'MODEL', means: 'only this model' },
    class: { ...CLASS_OPTION, means: 'only this class' },
    account: { value: 'ID', means: 'only this account' },
    wide: WIDE_OPTION,
  },
  example: 'queue list --class standard',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { lanes, accounts, hasMore, total, totalLimit } = await services.queue.listQueue({
      model: options.model ?? '',
      class: readClass(options.class),
      accountId: options.account ?? '',
    });
    const layout = { terminal, isWide: options.wide };
    return {
      answer: {
        total: Number(total),
        total_limit: Number(totalLimit),
        lanes: lanes.map(toLaneJson),
        accounts: accounts.map(toAccountJson),
        has_more: hasMore,
      },
      text: [
        `${total} of ${totalLimit} tasks wait`,
        asTable(lanes, LANE_COLUMNS, layout),
        asTable(accounts, ACCOUNT_COLUMNS, layout),
        ...(hasMore ? ['more accounts wait; name a model, a class or an account'] : []),
      ].join('\n\n'),
    };
  },
});

export const queueShow = defineCommand({
  summary: 'show the place of a task that waits for a channel, and why it waits',
  words: 'TASK',
  options: {},
  example: 'queue show task_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words }) => {
    const taskId = readSingleId(words, 'task');
    const shown = await services.queue.showQueuedTask({ taskId });
    return {
      answer: {
        id: taskId,
        account: shown.accountId,
        token: shown.tokenId,
        kind: KINDS[shown.kind],
        model: shown.model,
        reason: REASONS[shown.reason],
        cost_seconds: Number(shown.costSeconds),
        ...toPlaceJson(shown.place),
      },
    };
  },
});

export const queueMove = defineCommand({
  summary: 'let a task that waits do so in another class, or give it the next turn of its token',
  words: 'TASK',
  options: {
    class: { ...CLASS_OPTION, means: 'the class in which it waits' },
    first: { means: 'before all others of its token' },
    reason: REASON_OPTION,
    actor: ACTOR_OPTION,
  },
  example: 'queue move task_06f2k3h8v0s7m1q9c4x5b2n6d0 --first --reason "a customer waits"',
  run: async ({ services, words, options, environment }) => {
    const taskId = readSingleId(words, 'task');
    const { place } = await services.queue.moveQueuedTask({
      taskId,
      class: readClass(options.class),
      first: options.first === true,
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    return { answer: { id: taskId, ...toPlaceJson(place) } };
  },
});

export const queueCancel = defineCommand({
  summary: 'fail a task that waits, or those of an account or of a token, up to 1000 a call; their money is free again',
  words: '[TASK]',
  options: {
    account: { value: 'ID', means: 'all that waits of this account' },
    token: { value: 'ID', means: 'only what waits of this token of the account' },
    reason: REASON_OPTION,
    actor: ACTOR_OPTION,
  },
  example: 'queue cancel --account demo --reason "a loop of the client"',
  run: async ({ services, words, options, environment }) => {
    if ((words.length === 0) === (options.account === undefined))
      throw new WrongCall('name one task, or else an account with --account');
    const { cancelled, hasMore } = await services.queue.cancelQueued({
      taskId: options.account === undefined ? readSingleId(words, 'task') : '',
      accountId: options.account ?? '',
      tokenId: options.token ?? '',
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    return { answer: { cancelled, has_more: hasMore } };
  },
});

export const queueWeight = defineCommand({
  summary: 'set the weight of an account in the queue; others have the weight 1',
  words: 'ACCOUNT WEIGHT',
  options: {
    for: { value: 'DURATION', means: 'for how long; default: until it is set again' },
    reason: REASON_OPTION,
    actor: ACTOR_OPTION,
  },
  example: 'queue weight demo 4 --for 2h --reason "a launch"',
  run: async ({ services, words, options, environment }) => {
    const [accountId, weight, ...rest] = words;
    if (accountId === undefined || !/^\d{1,4}$/.test(weight ?? '') || rest.length > 0)
      throw new WrongCall('name one account and a whole weight from 1 to 1000');
    const { endsAt } = await services.queue.setQueueWeight({
      accountId,
      weight: Number(weight),
      lasts: options.for === undefined ? undefined : durationFromMs(readDuration(options.for)),
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    return { answer: { account: accountId, weight: Number(weight), ends_at: isoTime(endsAt) } };
  },
});

const SUBJECT_OPTIONS = {
  account: { value: 'ID', means: 'the account' },
  model: { value: 'MODEL', means: 'the model' },
  reason: REASON_OPTION,
  actor: ACTOR_OPTION,
} as const;

export const queueHold = defineCommand({
  summary: 'give the waiting tasks of an account or of a model no turns, until it is released',
  words: '',
  options: SUBJECT_OPTIONS,
  example: 'queue hold --account demo --reason "a dispute"',
  run: async ({ services, words, options, environment }) => {
    assertNoWords(words);
    const subject = readSubject(options);
    await services.queue.holdQueue({
      ...subject,
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    return { answer: { ...toSubjectJson(subject), held: true } };
  },
});

export const queueRelease = defineCommand({
  summary: 'give the waiting tasks of an account or of a model turns again',
  words: '',
  options: SUBJECT_OPTIONS,
  example: 'queue release --account demo --reason "settled"',
  run: async ({ services, words, options, environment }) => {
    assertNoWords(words);
    const subject = readSubject(options);
    await services.queue.releaseQueue({
      ...subject,
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    return { answer: { ...toSubjectJson(subject), held: false } };
  },
});

interface Subject {
  readonly accountId: string;
  readonly model: string;
}

function readSubject({ account, model }: { readonly account?: string; readonly model?: string }): Subject {
  if ((account === undefined) === (model === undefined)) throw new WrongCall('name one of --account and --model');
  return { accountId: account ?? '', model: model ?? '' };
}

function toSubjectJson({ accountId, model }: Subject): object {
  return accountId === '' ? { model } : { account: accountId };
}

function readClass(name: string | undefined): QueueClass {
  return CLASSES[name ?? ''] ?? QueueClass.UNSPECIFIED;
}

/** Empty for the lane of tasks before their time. */
function nameClass(ofClass: QueueClass): string {
  return CLASS_WORDS[ofClass] ?? '';
}

function formatChannel({ id, inFlight, inFlightLimit }: QueueLane['channels'][number]): string {
  return `${id} ${inFlight}/${inFlightLimit}`;
}

/** The lane of tasks before their time has no kind, model and class. */
function toSharedJson(lane: QueueLane | QueueAccount): object {
  const { kind, model, waiting, oldestSince, held, reason } = lane;
  return {
    ...(model === '' ? {} : { kind: KINDS[kind], model, class: nameClass(lane.class) }),
    waiting: Number(waiting),
    oldest_since: isoTime(oldestSince),
    held,
    reason: REASONS[reason],
  };
}

function toLaneJson(lane: QueueLane): object {
  return {
    ...toSharedJson(lane),
    turns_per_minute: lane.turnsPerMinute,
    channels: lane.channels.map(({ id, inFlight, inFlightLimit }) => ({
      id,
      in_flight: Number(inFlight),
      in_flight_limit: Number(inFlightLimit),
    })),
  };
}

function toAccountJson(account: QueueAccount): object {
  const { accountId, weight, share } = account;
  return { account: accountId, ...toSharedJson(account), weight, share };
}

function toPlaceJson(place: QueuePlace | undefined): object {
  if (place === undefined) return {};
  return {
    class: nameClass(place.class),
    position: place.position,
    waits_for: WAITS[place.waitsFor],
    since: isoTime(place.since),
    start_by: isoTime(place.startBy),
    estimated_start_at: isoTime(place.estimatedStartAt),
  };
}
