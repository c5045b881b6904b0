import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { deriveWords, listWords } from '@reelgate/platform/rpc/enum-words';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { QueueClass, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task, Usage } from '@reelgate/proto/tasks/v1/task';
import { formatDecimal } from '../../domain/decimal.ts';
import { WAIT_CLASS_WORDS, WAIT_REASON_WORDS } from '../../clients/task-words.ts';
import { memberSchemas } from '../../domain/schema.ts';
import type { Schema, TypeOf } from '../../domain/schema.ts';

/** Each field of a task: true if an encoding of tasks shows it. A new field needs a decision in every encoding. */
export type ShownFields = Readonly<Record<Exclude<keyof Task, '$typeName' | '$unknown'>, boolean>>;

const STATUS = deriveWords(TaskState, 'queued');

export const statusSchema = {
  type: 'string',
  description:
    'queued, in_progress, completed or failed. ' +
    'Any other value is a status of the generator, unchanged, and is not final.',
  examples: ['queued', 'in_progress', 'completed', 'failed'],
} as const satisfies Schema;

export const errorSchema = {
  title: 'TaskError',
  type: 'object',
  required: ['code', 'message'],
  additionalProperties: false,
  properties: { code: { type: 'string' }, message: { type: 'string' } },
} as const satisfies Schema;

/** This service's name for the state. An unknown status of a generator is shown unchanged. */
export function toStatusName(task: Task): string {
  return task.unrecognisedStatus === '' ? STATUS[task.state] : task.unrecognisedStatus;
}

/** This service's name for the state, also while the generator has a status of its own. */
export function toStateName({ state }: Task): (typeof STATUS)[TaskState] {
  return STATUS[state];
}

export function isFailed({ state }: Task): boolean {
  return state === TaskState.FAILED;
}

export function isCompleted(task: Task): boolean {
  return task.state === TaskState.COMPLETED;
}

export function readKind(task: Task): TaskKind {
  return task.order?.kind ?? TaskKind.UNSPECIFIED;
}

/** Converts a timestamp to Unix seconds. */
export function toUnixSeconds(timestamp: Timestamp | undefined): number | undefined {
  return timestamp === undefined ? undefined : Math.floor(timestampMs(timestamp) / 1000);
}

/** Returns the failure of a failed task; undefined for any other task. */
export function encodeFailure(task: Task): TypeOf<typeof errorSchema> | undefined {
  if (task.state !== TaskState.FAILED) return undefined;
  const { code = 'failed', message = 'the task failed' } = task.failure ?? {};
  return { code, message };
}

const USAGE_FIELDS = {
  total_seconds: 'totalSeconds',
  input_seconds: 'inputSeconds',
  output_seconds: 'outputSeconds',
  input_image_count: 'inputImageCount',
  input_audio_seconds: 'inputAudioSeconds',
  total_tokens: 'totalTokens',
  prompt_tokens: 'promptTokens',
  completion_tokens: 'completionTokens',
} as const satisfies Readonly<Record<string, keyof Usage>>;

const USAGE_NAMES = Object.keys(USAGE_FIELDS) as readonly (keyof typeof USAGE_FIELDS)[];

export const usageSchema = {
  title: 'Usage',
  type: 'object',
  additionalProperties: false,
  properties: memberSchemas(USAGE_NAMES, { type: 'integer' }),
} as const satisfies Schema;

/** Returns the known fields of the usage; undefined before the task is completed. */
export function encodeUsage(task: Task): TypeOf<typeof usageSchema> | undefined {
  const { usage } = task;
  if (!isCompleted(task) || usage === undefined) return undefined;
  return Object.fromEntries(
    USAGE_NAMES.flatMap((name) => {
      const quantity = usage[USAGE_FIELDS[name]];
      return quantity === undefined ? [] : [[name, Number(quantity)]];
    }),
  );
}

// the types of the language lack it
const { rawJSON } = JSON as typeof JSON & { readonly rawJSON: (text: string) => unknown };

/**
 * A number of JSON with the exact digits of an amount in billionths: a float would round large ones. The value is an
 * object that becomes a number only in the JSON; do not calculate with it.
 */
export function toJsonNumber(nanos: bigint): number {
  return rawJSON(formatDecimal(nanos)) as number;
}

const UNIX_SECONDS = { type: 'integer', description: 'Unix seconds.' } as const;

export const queueSchema = {
  title: 'QueuePlace',
  type: 'object',
  description: 'Only in a read of one task, while it waits for its turn.',
  required: ['position', 'since', 'start_by', 'class', 'waits_for'],
  additionalProperties: false,
  properties: {
    position: { type: 'integer', minimum: 0, description: 'Tasks of the same token that have their turns before it.' },
    estimated_start_at: { ...UNIX_SECONDS, description: 'Unix seconds, roughly; absent if it is not known.' },
    since: UNIX_SECONDS,
    start_by: { ...UNIX_SECONDS, description: 'Unix seconds. Without a turn until then the task fails.' },
    class: { enum: listWords(QueueClass) },
    waits_for: { enum: listWords(QueueWait) },
  },
} as const satisfies Schema;

/** Returns the place of a task that waits; undefined for any other task. */
export function encodeQueue({ state, queue }: Task): TypeOf<typeof queueSchema> | undefined {
  if (state !== TaskState.QUEUED || queue === undefined) return undefined;
  return dropUndefined({
    position: queue.position,
    estimated_start_at: toUnixSeconds(queue.estimatedStartAt),
    since: toUnixSeconds(queue.since) ?? 0,
    start_by: toUnixSeconds(queue.startBy) ?? 0,
    class: WAIT_CLASS_WORDS[queue.class] ?? 'standard',
    waits_for: WAIT_REASON_WORDS[queue.waitsFor],
  });
}

export const ignoredSchema = {
  type: 'array',
  items: { type: 'string' },
  description: 'The fields of the create that no generator of the model takes, and that changed nothing.',
} as const satisfies Schema;

/** Lists the optional fields of a create that no generator received; undefined if there are no such fields. */
export function encodeIgnored({ order }: Task): string[] | undefined {
  const { optionalExtra = [], extraJson = '' } = order ?? {};
  if (optionalExtra.length === 0) return undefined;
  const kept = extraJson === '' ? {} : (JSON.parse(extraJson) as object);
  const ignored = optionalExtra.filter((field) => !Object.hasOwn(kept, field));
  return ignored.length === 0 ? undefined : ignored;
}

/** Leaves out undefined fields, so that a body has only the fields with a value. */
export function dropUndefined<T extends object>(fields: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>;
}

type WithoutUndefined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** This service's names for the kinds of tasks. */
export const TASK_KIND_NAMES = deriveWords(TaskKind, 'generation');
