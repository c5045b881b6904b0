export interface PollPlan {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

const JITTER_LEAST = 0.8;
const ERROR_BACKOFF_MAX_MS = 60_000;
const ERROR_DOUBLINGS_MAX = 6;
const WAIT_DOUBLINGS_MAX = 4;
const DOUBLED_WAIT_MAX_MS = 30 * 60_000;
/** An address that lives for at most this many intervals dies soon. */
const SOON_INTERVALS = 20;
/** An address that dies soon is fetched again after this part of the interval. */
const HASTE = 4;
/** Bounds the loop for a factor close to 1. */
const STEPS_MAX = 100;

/**
 * Milliseconds until the next poll. The interval grows with the age of the task; the jitter (0 to 1) only shortens it.
 * The first poll has no jitter: it comes `firstMs` after the acceptance.
 */
export function pollInterval(plan: PollPlan, ageMs: number, jitter: number): number {
  let interval = plan.firstMs;
  let waited = interval;
  for (let step = 0; step < STEPS_MAX && waited <= ageMs && interval < plan.maxMs; step += 1) {
    interval = Math.min(plan.maxMs, interval * plan.factor);
    waited += interval;
  }
  return Math.round(interval * (JITTER_LEAST + (1 - JITTER_LEAST) * jitter));
}

/**
 * Milliseconds until the next poll of a task with a result that waits for capacity of this service. If the address of
 * the result dies soon, the interval is shorter, so that this result comes before others.
 */
export function hastenInterval(intervalMs: number, livesMs: number): number {
  const isSoon = livesMs > 0 && livesMs <= intervalMs * SOON_INTERVALS;
  return isSoon ? Math.round(intervalMs / HASTE) : intervalMs;
}

/** The longest time in milliseconds that a task can have to wait for its next poll. */
export function longestInterval({ maxMs }: PollPlan): number {
  return Math.max(ERROR_BACKOFF_MAX_MS, maxMs);
}

/** Milliseconds until the next poll after `errors` failed polls in a row. Polling never stops. */
export function errorBackoff(plan: PollPlan, errors: number): number {
  return Math.min(longestInterval(plan), plan.firstMs * 2 ** Math.min(errors, ERROR_DOUBLINGS_MAX));
}

/**
 * Milliseconds until the next poll of a task that failed a poll while its channel waits for `waitMs`, after `errors`
 * consecutive failed polls. The answer to this task alone may have requested the wait, and would request it again after
 * each poll, so that no other task is polled. So the task itself waits longer each time.
 */
export function errorBackoffInWait(plan: PollPlan, errors: number, waitMs: number): number {
  const doubledMs = waitMs * 2 ** Math.min(errors - 1, WAIT_DOUBLINGS_MAX);
  return Math.max(waitMs, Math.min(doubledMs, DOUBLED_WAIT_MAX_MS)) + errorBackoff(plan, errors);
}
