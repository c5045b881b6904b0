import { Problem, isProblem } from './problem.ts';
import { StoreUnavailable } from './sql/sql.ts';

const UNAVAILABLE = 'service_unavailable';
/** A restart or failover of a database takes about this long. */
const STORE_RETRY_MS = 2000;

/**
 * Creates the problem for a peer that was unavailable or did not answer in time. A retry time means that no work was
 * begun.
 */
export function serviceUnavailable(cause: unknown, retryAfterMs?: number): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: UNAVAILABLE,
    message: 'a part of the service cannot be reached; try again',
    retryAfterMs,
    cause,
  });
}

/** Thrown when a process was so slow that another one has undone its work. */
export class Overtaken extends Error {}

/** Creates the error of an operation that has not begun, or has been undone. */
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
