import { Problem, isProblem } from './problem.ts';
import { StoreUnavailable } from './store-unavailable.ts';

const UNAVAILABLE = 'service_unavailable';
/** A database that was restarted, or whose replica took over, is back about as soon. */
const STORE_RETRY_MS = 2000;

/** The other side could not be used, or did not answer in time. With a time to wait it says that nothing was begun. */
export function serviceUnavailable(cause: unknown, retryAfterMs?: number): Problem {
  return new Problem({ kind: 'unavailable', reason: UNAVAILABLE, message: 'a part of the service cannot be reached; try again', retryAfterMs, cause });
}

/** What an operation failed with that knows that it has begun nothing, or has undone it. */
export function nothingBegun(thrown: StoreUnavailable): Problem;
export function nothingBegun(thrown: unknown): unknown;
export function nothingBegun(thrown: unknown): unknown {
  const isAway = thrown instanceof StoreUnavailable || isProblem(thrown, UNAVAILABLE);
  return isAway ? serviceUnavailable(thrown, (thrown as Partial<Problem>).retryAfterMs ?? STORE_RETRY_MS) : thrown;
}

/** What an operation failed with after it had begun something: to repeat it could do it twice. */
export function maybeBegun(thrown: unknown): unknown {
  return thrown instanceof StoreUnavailable || isProblem(thrown, UNAVAILABLE) ? serviceUnavailable(thrown) : thrown;
}
