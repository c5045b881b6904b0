import type { DeliveryState } from '../webhook.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** From the attempt before to each attempt of a sending. */
export const INTERVALS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
const JITTER = 0.2;
/** The longest wait that a receiver can ask for. */
export const RETRY_AFTER_MAX_MS = 24 * HOUR_MS;
const GONE = 410;

/** The outcome of an attempt. */
export interface AttemptStatus {
  /** 0: there was no answer. */
  readonly status: number;
  /** The reason why the answer is missing or a failure whatever its status. Empty if the status decides. */
  readonly error: string;
}

/** The parts of a receiver's answer to an attempt that decide on the next one. */
export interface Answer extends AttemptStatus {
  /** The time in milliseconds for which the receiver asks to wait; 0 if it does not say. */
  readonly retryAfterMs: number;
}

/** The state of a delivery after an attempt. */
export interface Next {
  readonly state: DeliveryState;
  /** The time at which the next attempt is due, if the state is pending. */
  readonly dueAt?: number | undefined;
}

export function isAccepted({ status, error }: AttemptStatus): boolean {
  return error === '' && status >= 200 && status < 300;
}

/** Reports whether the receiver accepts no further event at this URL. */
export function isGone({ status }: AttemptStatus): boolean {
  return status === GONE;
}

/**
 * Returns the state of a delivery after an attempt, which `attempts` includes. The chance, from 0 to 1, moves the
 * next attempt by up to a fifth of its interval, so that deliveries that failed together do not return together.
 */
export function afterAttempt(
  { attempts, attemptsBefore }: { readonly attempts: number; readonly attemptsBefore: number },
  answer: Answer,
  { now, chance }: { readonly now: number; readonly chance: number },
): Next {
  if (isAccepted(answer)) return { state: 'delivered' };
  const interval = INTERVALS_MS[attempts - attemptsBefore];
  if (interval === undefined || isGone(answer)) return { state: 'failed' };
  const jittered = Math.round(interval * (1 - JITTER + 2 * JITTER * chance));
  return { state: 'pending', dueAt: now + Math.max(jittered, Math.min(answer.retryAfterMs, RETRY_AFTER_MAX_MS)) };
}
