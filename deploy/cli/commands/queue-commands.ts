import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { QueueClass } from '@reelgate/proto/tasks/v1/queue';
import { QueueAccountSchema, QueueLaneSchema } from '@reelgate/proto/tasks/v1/queue_service';
import type { QueueChannel } from '@reelgate/proto/tasks/v1/queue_service';
import { WrongCall, assertNoWords, defineCommand, readSingleId } from '../command.ts';
import type { Options } from '../command.ts';
import { ACTOR_OPTION, readActor } from '../environment.ts';
import type { Environment } from '../environment.ts';
import { WIDE_OPTION, asTable, listColumns } from '../format/table.ts';
import { readDuration, relativeTime } from '../format/times.ts';

const CLASSES: Readonly<Record<string, QueueClass>> = deriveValues(QueueClass);

const LANE_COLUMNS = listColumns(QueueLaneSchema, [
  'model',
  { field: 'kind', isWide: true },
  'class',
  'waiting',
  { title: 'OLDEST', of: ({ oldestSince }) => relativeTime(oldestSince) },
  { title: 'TURNS A MINUTE', of: ({ startsPerMinute }) => startsPerMinute.toFixed(1) },
  { title: 'CHANNELS', of: ({ channels }) => channels.map(formatChannel).join(','), shrinks: true },
  { field: 'reason', title: 'WHY' },
]);
const ACCOUNT_COLUMNS = listColumns(QueueAccountSchema, [
  'accountId',
  'model',
  { field: 'kind', isWide: true },
  'class',
  'waiting',
  { title: 'OLDEST', of: ({ oldestSince }) => relativeTime(oldestSince) },
  'weight',
  { title: 'SHARE', of: ({ share }) => `${Math.round(share * 100)}%` },
  { field: 'reason', title: 'WHY' },
]);

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
    const answer = await services.queue.listQueue({
      model: options.model ?? '',
      class: readClass(options.class),
      accountId: options.account ?? '',
    });
    const { lanes, accounts, hasMore, total, totalLimit } = answer;
    const layout = { terminal, isWide: options.wide };
    return {
      answer,
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
  run: async ({ services, words }) => ({
    answer: await services.queue.showQueuedTask({ taskId: readSingleId(words, 'task') }),
  }),
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
  run: async ({ services, words, options, environment }) => ({
    answer: await services.queue.moveQueuedTask({
      taskId: readSingleId(words, 'task'),
      class: readClass(options.class),
      first: options.first === true,
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    }),
  }),
});

export const queueCancel = defineCommand({
  summary:
    'fail a waiting task, or the waiting tasks of an account or a token, up to 1000 a call; their holds are released',
  words: '[TASK]',
  options: {
    account: { value: 'ID', means: 'all that waits of this account' },
    token: { value: 'ID', means: 'only the waiting tasks of this token of the account' },
    reason: REASON_OPTION,
    actor: ACTOR_OPTION,
  },
  example: 'queue cancel --account demo --reason "a loop of the client"',
  run: async ({ services, words, options, environment }) => {
    if ((words.length === 0) === (options.account === undefined))
      throw new WrongCall('name one task, or else an account with --account');
    return {
      answer: await services.queue.cancelQueued({
        taskId: options.account === undefined ? readSingleId(words, 'task') : '',
        accountId: options.account ?? '',
        tokenId: options.token ?? '',
        reason: options.reason ?? '',
        actor: readActor(options.actor, environment),
      }),
    };
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
    const answer = await services.queue.setQueueWeight({
      accountId,
      weight: Number(weight),
      lasts: options.for === undefined ? undefined : durationFromMs(readDuration(options.for)),
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    const until = options.for === undefined ? '' : ` for ${options.for}`;
    return { answer, text: `the weight of ${accountId} is ${Number(weight)}${until}` };
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
    const subject = readSubject(options, environment);
    return { answer: await services.queue.holdQueue(subject), text: `${nameSubject(subject)} is held` };
  },
});

export const queueRelease = defineCommand({
  summary: 'give the waiting tasks of an account or of a model turns again',
  words: '',
  options: SUBJECT_OPTIONS,
  example: 'queue release --account demo --reason "settled"',
  run: async ({ services, words, options, environment }) => {
    assertNoWords(words);
    const subject = readSubject(options, environment);
    return { answer: await services.queue.releaseQueue(subject), text: `${nameSubject(subject)} is released` };
  },
});

/** The account or the model that a hold and a release name. */
interface Subject {
  readonly accountId: string;
  readonly model: string;
  readonly reason: string;
  readonly actor: string;
}

function readSubject(
  { account, model, reason = '', actor }: Options<typeof SUBJECT_OPTIONS>,
  environment: Environment,
): Subject {
  if ((account === undefined) === (model === undefined)) throw new WrongCall('name one of --account and --model');
  return { accountId: account ?? '', model: model ?? '', reason, actor: readActor(actor, environment) };
}

function nameSubject({ accountId, model }: Subject): string {
  return accountId === '' ? `the model ${model}` : `the account ${accountId}`;
}

function readClass(name: string | undefined): QueueClass {
  return CLASSES[name ?? ''] ?? QueueClass.UNSPECIFIED;
}

function formatChannel({ id, inFlight, inFlightLimit }: QueueChannel): string {
  return `${id} ${inFlight}/${inFlightLimit}`;
}
