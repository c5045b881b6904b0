import { Problem, CallEnded } from '@reelgate/platform/problem';
import type { ProblemKind } from '@reelgate/platform/problem';
import type { Fault } from '../domain/fault.ts';
import { SCHEDULE_MS_MAX } from '../domain/wait-plan.ts';
import { refuse } from '../refusals.ts';
import type { Cause } from '../domain/failure-cause.ts';
import type { Deps, RefusedCreate } from './deps.ts';

const RETRY_SOON_MS = 5000;
/** A full queue moves by one place at a time. */
const QUEUE_RETRY_MS = 30_000;
const QUEUE_RETRY_MS_MIN = 1000;
const QUEUE_RETRY_MS_MAX = 3_600_000;
const DAY_MS = 86_400_000;

/** Turns a fault of an order into a refusal. */
export function toRefusal(fault: Fault): Problem {
  return new Problem({ kind: 'invalid', ...fault });
}

export const modelNotFound = (model: string): Problem =>
  refuse('model_not_found', {
    field: 'model',
    message:
      `${JSON.stringify(model.slice(0, 100))} is not a model that this token can use here; ` +
      `GET /v1/models lists those that it can`,
  });

export const taskNotFound = (field?: string): Problem =>
  refuse('task_not_found', {
    field,
    message: field === undefined ? 'no such task' : 'must be the id of a task of this account',
  });

export const stepsNotCombined = (): Problem =>
  toRefusal({
    reason: 'invalid_request',
    field: 'in_steps',
    message: 'cannot be combined with offset or with_total; page with after',
  });

export const stepsNeeded = (): Problem =>
  toRefusal({
    reason: 'invalid_request',
    field: 'in_steps',
    message: 'must be set with words, token_id or count_max; page with after',
  });

export const sourceGone = (): Problem =>
  toRefusal({
    reason: 'source_task_unsupported',
    field: 'source_task_id',
    message: 'names a task whose video or references have been removed; send them as content with a base_video item',
  });

/** Nothing has begun, so the create can be repeated. */
export const overloadRefusal = (): Problem =>
  refuse('service_unavailable', { message: 'too much work is under way; try again', retryAfterMs: RETRY_SOON_MS });

/** The cause of a refusal: the limit of tasks in flight of the whole service is reached. */
class ServiceFull extends Error {}
/** The cause of a refusal: every channel for the order is at its limit. */
class ChannelsFull extends Error {}

/** `of` is the owner of the limit. `maker` is an ancestor of the request's token. */
export const tooManyTasks = (of: 'token' | 'maker' | 'service'): Problem =>
  refuse('too_many_tasks', {
    message:
      of === 'maker'
        ? 'too many tasks are in flight under a limit of the token that made this one; retry when one has finished'
        : 'too many tasks are in flight; retry when one has finished',
    retryAfterMs: RETRY_SOON_MS,
    cause: of === 'service' ? new ServiceFull('tasks.in_flight.total is reached') : undefined,
  });

/** `isOfMaker` is set if the limit belongs to an ancestor of the request's token. */
export const tooManyJobs = (isOfMaker: boolean): Problem =>
  refuse('too_many_tasks', {
    message: isOfMaker
      ? 'too many asynchronous calls are in flight under a limit of the token that made this one; ' +
        'retry when one has ended'
      : 'too many asynchronous calls are in flight; retry when one has ended',
    retryAfterMs: RETRY_SOON_MS,
  });

export const jobNotFound = (): Problem => refuse('task_not_found', { message: 'there is no such asynchronous call' });

export const leaseLost = (): Problem => refuse('job_lease_lost');

export const keyReused = (): Problem => refuse('idempotency_key_reused');

export const keyInUse = (): Problem => refuse('idempotency_key_in_use', { retryAfterMs: 1000 });

export const contentRejected = (): Problem => refuse('content_rejected');

export const orderRejected = (): Problem =>
  refuse('invalid_request', {
    message: 'the generator refused this request as invalid; check content, duration, resolution and ratio together',
  });

export const unfit = (): Problem =>
  refuse('invalid_request', {
    message:
      'no generator for this model accepts this combination of inputs; ' +
      'send fewer media items or change the roles, duration, resolution or ratio',
  });

export const noChannel = (): Problem => refuse('no_channel_available', { retryAfterMs: RETRY_SOON_MS });

export const throttleRefusal = (retryAfterMs: number): Problem =>
  refuse('rate_limit_exceeded', {
    message: 'every generator for this request is at its limit; retry later',
    retryAfterMs,
    cause: new ChannelsFull('every channel for this order is at its limit'),
  });

/**
 * `of` is the owner of the places, which are all taken. `retryAfterMs` is the expected time until a place is free, if
 * it is known.
 */
export const queueFull = (of: 'account' | 'service', retryAfterMs = QUEUE_RETRY_MS): Problem =>
  refuse('queue_full', {
    message:
      of === 'account'
        ? 'every generator for this request is at its limit, and too many tasks of this account wait already; retry later'
        : 'every generator for this request is at its limit, and too many tasks wait already; retry later',
    retryAfterMs: Math.min(Math.max(retryAfterMs, QUEUE_RETRY_MS_MIN), QUEUE_RETRY_MS_MAX),
    cause: new ChannelsFull('the queue is full'),
  });

export const wouldWaitTooLong = (estimateMs: number): Problem =>
  refuse('would_wait_too_long', {
    message: `start-within: the turn of this task is expected in ${Math.ceil(estimateMs / 1000)} seconds; allow more or retry later`,
    retryAfterMs: Math.min(estimateMs, QUEUE_RETRY_MS_MAX),
    cause: new ChannelsFull('the turn would come too late'),
  });

export const tooLateStart = (): Problem =>
  refuse('invalid_request', {
    field: 'queue.not_before',
    message: `is more than ${SCHEDULE_MS_MAX / DAY_MS} days away; give an earlier time`,
  });

export const pollLimited = (retryAfterMs: number): Problem =>
  refuse('rate_limit_exceeded', {
    message: 'the generator of this task accepts no further status request now; retry later',
    retryAfterMs,
  });

export const notCancellable = (why: string): Problem =>
  refuse('task_not_cancellable', {
    message: `only a queued task can be cancelled, and the generator must confirm it; ${why}`,
  });

export const taskNotWaiting = (): Problem => refuse('task_not_waiting');

export const modelNotServed = (): Problem =>
  refuse('model_not_found', { field: 'model', message: 'must be a model of a channel; `channel list` shows them' });

export const notFinished = (): Problem =>
  refuse('task_not_completed', { message: 'only a finished task can be deleted; wait until it ends or cancel it' });

export const tokenNotFound = (): Problem =>
  refuse('token_not_found', { field: 'token_id', message: 'must be the id of a token of this account' });

export const tokenExpired = (): Problem => refuse('token_disabled');

const CAUSE_OF_KIND: Readonly<Record<ProblemKind, Cause>> = {
  invalid: 'client',
  unauthenticated: 'client',
  forbidden: 'client',
  not_found: 'client',
  conflict: 'client',
  exhausted: 'client',
  unprocessable: 'client',
  gone: 'client',
  unavailable: 'us',
  internal: 'us',
};
/** The reasons with a kind that does not show the cause. */
const CAUSE_OF_REASON: Readonly<Record<string, Cause>> = {
  no_channel_available: 'upstream',
  // a price is missing in the configuration
  model_price_error: 'us',
};

/** Returns the cause of a refused create, or undefined if the caller left, which is no refusal. */
export function classifyRefusal(error: unknown): Cause | undefined {
  if (error instanceof CallEnded) return error.why === 'cancelled' ? undefined : 'us';
  if (!(error instanceof Problem)) return 'us';
  if (error.cause instanceof ChannelsFull) return 'upstream';
  if (error.cause instanceof ServiceFull) return 'us';
  return Object.hasOwn(CAUSE_OF_REASON, error.reason) ? CAUSE_OF_REASON[error.reason] : CAUSE_OF_KIND[error.kind];
}

/** Runs a create, and counts it by its cause if it is refused. */
export async function countRefusals<T>({ count }: Deps, refused: RefusedCreate, create: () => Promise<T>): Promise<T> {
  try {
    return await create();
  } catch (error) {
    const cause = classifyRefusal(error);
    if (cause !== undefined) count.refusedBy(cause, refused);
    throw error;
  }
}
