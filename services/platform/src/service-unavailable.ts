import { Problem, isProblem } from './problem.ts';
import { StoreUnavailable } from './sql/sql.ts';

const UNAVAILABLE = 'service_unavailable';
/** A restart or failover of a database takes about this long. */
const STORE_RETRY_MS = 2000;

/** The peer was unavailable or did not answer in time. A retry time means that nothing was begun. */
export function serviceUnavailable(cause: unknown, retryAfterMs?: number): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: UNAVAILABLE,
    message: 'a part of the service cannot be reached; try again',
    retryAfterMs,
    cause,
  });
}

/** A process was too slow, so that another one has undone what it had begun. */
export class Overtaken extends Error {}

/** The error of an operation that has begun nothing, or has undone it. */
export function nothingBegun(thrown: StoreUnavailable): Problem;
export function nothingBegun(thrown: unknown): unknown;
export function nothingBegun(thrown: unknown): unknown {
  const isRepeatable =
    thrown instanceof StoreUnavailable || thrown instanceof Overtaken || isProblem(thrown, UNAVAILABLE);
  return isRepeatable
    ? serviceUnavailable(thrown, (thrown as Partial<Problem>).retryAfterMs ?? STORE_RETRY_MS)
    : thrown;
}

/** The error of an operation that had begun something: a repeat could do it twice. */
export function maybeBegun(thrown: unknown): unknown {
  return thrown instanceof StoreUnavailable || isProblem(thrown, UNAVAILABLE) ? serviceUnavailable(thrown) : thrown;
}
