import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { EveryField } from '@reelgate/platform/rpc/service';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import type { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { QueuePlace } from '@reelgate/proto/tasks/v1/queue';
import {
  FailureCause,
  TaskFailureSchema,
  TaskResultSchema,
  TaskState,
  UsageSchema,
} from '@reelgate/proto/tasks/v1/task';
import type { Task as WireTask, TaskFailure, TaskResult, Usage as WireUsage } from '@reelgate/proto/tasks/v1/task';
import type { EveryMember } from '../domain/every-member.ts';
import { findFailureCause } from '../domain/failure-cause.ts';
import type { Cause } from '../domain/failure-cause.ts';
import type { Failure, Result, State, Task, TaskFilter, TaskOrigin, Usage } from '../domain/task.ts';
import { pollAfterMs } from '../operations/reads/read-tasks.ts';
import type { TaskCount } from '../store/task-store.ts';
import { KIND_WORDS, fromOptionalEnum, fromWireEnum, toWireOrder } from './mapping-order.ts';
import { emptyToUndefined } from './request-fields.ts';

export const STATES = deriveValues(TaskState);
export const STATE_WORDS = deriveWords(TaskState);

/**
 * The view of a task for its owner, with its place if it is given. The message has no field for anything of the upstream.
 */
export function toWireTask(task: Task, now: number, place?: QueuePlace): WireTask {
  const { finishedAt, expiresAt, result, failure, usage } = task;
  return {
    $typeName: 'reelgate.tasks.v1.Task',
    id: task.id,
    accountId: task.accountId,
    order: toWireOrder(task.order),
    label: task.label ?? '',
    state: STATES[task.state],
    unrecognisedStatus: (task.unrecognised ? task.upstreamStatus : undefined) ?? '',
    progress: task.progress,
    seconds: task.seconds,
    createdAt: timestampFromMs(task.createdAt),
    updatedAt: timestampFromMs(task.updatedAt),
    pollAfterMs: BigInt(pollAfterMs(task, now, place)),
    completedAt: toTimestamp(finishedAt),
    expiresAt: toTimestamp(expiresAt),
    result: result && toWireResult(result),
    failure: failure && toWireFailure(failure),
    usage: usage && toWireUsage(usage),
    queue: place,
  } satisfies EveryField<WireTask>;
}

const CAUSES: Readonly<Record<Cause, FailureCause>> = {
  client: FailureCause.ORDER,
  upstream: FailureCause.UPSTREAM,
  us: FailureCause.SERVICE,
};

function toWireFailure({ code, message }: Failure): TaskFailure {
  const cause = findFailureCause(code);
  return toMessage(TaskFailureSchema, {
    code,
    message,
    cause: cause === undefined ? FailureCause.UNSPECIFIED : CAUSES[cause],
  });
}

function toWireResult(result: Result): TaskResult {
  const { bytes = 0, durationMs = 0, object, prompt, mediaType, width, height, frameRate } = result;
  return toMessage(TaskResultSchema, {
    object,
    prompt,
    mediaType,
    width,
    height,
    frameRate,
    bytes: BigInt(bytes),
    durationMs: BigInt(durationMs),
  });
}

/** The owner's view of a task that its create has just begun, next to its origin. */
const NEW: { readonly [K in Exclude<keyof Task, keyof TaskOrigin | 'admission'>]: Task[K] } = {
  state: 'queued',
  unrecognised: false,
  progress: 0,
  updatedAt: 0,
  pollErrors: 0,
  polls: 0,
  pollSpans: 0,
  resumed: false,
  upstreamStatus: undefined,
  finishedAt: undefined,
  expiresAt: undefined,
  mapping: undefined,
  staged: undefined,
  result: undefined,
  failure: undefined,
  usage: undefined,
  upstreamCostMicroUsd: undefined,
  nextPollAt: undefined,
  doubt: undefined,
};

/** The task as it was when it was created, which is the answer of a replayed create. */
export function toWireCreated(task: Task): WireTask {
  return toWireTask({ ...task, ...NEW, updatedAt: task.createdAt }, task.createdAt);
}

/** A number that is no count is left out, so that one task never breaks a list or an event. */
export function toWireUsage(usage: Usage): WireUsage {
  const count = (value: number | undefined): bigint | undefined =>
    value !== undefined && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined;
  return toMessage(UsageSchema, {
    totalSeconds: count(usage.totalSeconds),
    inputSeconds: count(usage.inputSeconds),
    outputSeconds: count(usage.outputSeconds),
    inputImageCount: count(usage.inputImageCount),
    inputAudioSeconds: count(usage.inputAudioSeconds),
    totalTokens: count(usage.totalTokens),
    promptTokens: count(usage.promptTokens),
    completionTokens: count(usage.completionTokens),
  });
}

/** The members of a request that narrow every list and every watch of tasks. */
interface WireTaskFilter {
  readonly accountId: string;
  readonly states: readonly TaskState[];
  readonly model: string;
  readonly kind: TaskKind;
}

/** The filter of a request. A member of the filter that no request has does not compile. */
export function readTaskFilter({ accountId, states, model, kind }: WireTaskFilter): EveryMember<TaskFilter> {
  return {
    accountId: emptyToUndefined(accountId),
    states: states.map((state) => fromWireEnum(STATE_WORDS, state)),
    model: emptyToUndefined(model),
    kind: fromOptionalEnum(KIND_WORDS, kind),
  };
}

/** The state of a filter; undefined for every state. */
export function readStateFilter(state: TaskState): State | undefined {
  return fromOptionalEnum(STATE_WORDS, state);
}

/** The count of an answer, zero if there was no count. */
export function toWireCount(counted?: TaskCount): {
  readonly counted: number;
  readonly countedAll: boolean;
} {
  return { counted: counted?.count ?? 0, countedAll: counted?.isWhole ?? false };
}
