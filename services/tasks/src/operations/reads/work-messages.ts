import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { JobFailureSchema, JobSchema } from '@reelgate/proto/tasks/v1/job';
import type { Job as WireJob } from '@reelgate/proto/tasks/v1/job';
import { MediaKind, MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type {
  ContentItem as WireItem,
  MediaItem as WireMedia,
  Order as WireOrder,
} from '@reelgate/proto/tasks/v1/order';
import type { QueuePlace } from '@reelgate/proto/tasks/v1/queue';
import {
  FailureCause,
  TaskFailureSchema,
  TaskResultSchema,
  TaskState,
  UsageSchema,
} from '@reelgate/proto/tasks/v1/task';
import type { Task as WireTask, TaskFailure, TaskResult, Usage as WireUsage } from '@reelgate/proto/tasks/v1/task';
import { toWireAnnotations } from '../../domain/annotations.ts';
import { findFailureCause } from '../../domain/failure-cause.ts';
import type { Cause } from '../../domain/failure-cause.ts';
import { isMedia } from '../../domain/order.ts';
import type { ContentItem, MediaItem, Order } from '../../domain/order.ts';
import type { Failure, Result, Task, TaskOrigin, Usage } from '../../domain/task.ts';
import type { Job } from '../../store/job-store.ts';
import { pollAfterMs } from './read-tasks.ts';

export const KINDS = deriveValues(TaskKind);
const MEDIA = deriveValues(MediaKind);
export const ROLES = deriveValues(MediaRole);
export const STATES = deriveValues(TaskState);

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
    ...toWireAnnotations(task),
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

/** The view of a job for its owner. */
export function toWireJob(job: Job): WireJob {
  const { id, accountId, state, createdAt, updatedAt, finishedAt, answer, failure } = job;
  return toMessage(JobSchema, {
    id,
    accountId,
    state: STATES[state],
    createdAt: timestampFromMs(createdAt),
    updatedAt: timestampFromMs(updatedAt),
    completedAt: toTimestamp(finishedAt),
    answer,
    failure: failure && toMessage(JobFailureSchema, { code: failure.code, message: failure.message }),
  });
}

/** The job as it was when it was created. */
export function toWireNewJob(job: Job): WireJob {
  return toWireJob({
    ...job,
    state: 'queued',
    updatedAt: job.createdAt,
    finishedAt: undefined,
    answer: undefined,
    failure: undefined,
  });
}

export function toWireOrder(order: Order): WireOrder {
  return {
    $typeName: 'reelgate.tasks.v1.Order',
    kind: KINDS[order.kind],
    model: order.model,
    content: order.content.map(toWireItem),
    duration: order.duration,
    resolution: order.resolution,
    ratio: order.ratio,
    sourceTaskId: order.sourceTaskId ?? '',
    aigcWatermark: order.aigcWatermark,
    callbackUrl: order.callbackUrl,
    size: order.size,
    extraJson: order.extraJson ?? '',
    optionalExtra: [...(order.optionalExtra ?? [])],
  } satisfies EveryField<WireOrder>;
}

function toWireItem(item: ContentItem): WireItem {
  return {
    $typeName: 'reelgate.tasks.v1.ContentItem',
    item: isMedia(item) ? { case: 'media', value: toWireMedia(item) } : { case: 'text', value: item.text },
  } satisfies EveryField<WireItem>;
}

function toWireMedia({ media, role, url = '', object = '', declaredType = '' }: MediaItem): WireMedia {
  return {
    $typeName: 'reelgate.tasks.v1.MediaItem',
    kind: MEDIA[media],
    role: role === undefined ? MediaRole.UNSPECIFIED : ROLES[role],
    url,
    object,
    declaredType,
  } satisfies EveryField<WireMedia>;
}
