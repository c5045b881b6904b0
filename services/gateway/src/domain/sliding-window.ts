/**
 * The length of a window. The previous window still counts, in proportion to the part of it that lies within the last
 * minute. Two numbers for each of a hundred thousand tokens are an estimate, which is enough for clients. The limits of
 * upstreams are exact, so they keep a log of the last minute (`window-log` of the platform).
 */
export const WINDOW_MS = 60_000;

/** The counts of the current and of the previous window. */
export interface WindowCounts {
  readonly previous: number;
  readonly current: number;
  /** Milliseconds since the current window began. */
  readonly elapsedMs: number;
}

export interface Verdict {
  readonly allowed: boolean;
  /** The deciding limit: of the limits that apply, the one that allows the fewest requests, or the latest. */
  readonly limit: number;
  /** True for the limit of a token that created the token of the request. */
  readonly isOfMaker: boolean;
  /** The number of further requests that are allowed now. */
  readonly remaining: number;
  /** Milliseconds until the current window ends. */
  readonly resetMs: number;
  /** Milliseconds until one more request is allowed; 0 if this one is. */
  readonly retryAfterMs: number;
}

/** Judges one more request. It calculates in request-milliseconds, so that all numbers are integers. */
export function judge({ previous, current, elapsedMs }: WindowCounts, limit: number, isOfMaker = false): Verdict {
  const free = (limit - current) * WINDOW_MS - previous * (WINDOW_MS - elapsedMs);
  const allowed = free >= WINDOW_MS;
  return {
    allowed,
    limit,
    isOfMaker,
    resetMs: WINDOW_MS - elapsedMs,
    remaining: Math.max(0, Math.floor(free / WINDOW_MS) - (allowed ? 1 : 0)),
    retryAfterMs: allowed ? 0 : computeRetryMs({ previous, current, elapsedMs }, limit - 1),
  };
}

/** Judges a request that all of the limits bound. If several limits could decide, the first of them decides. */
export function judgeAll([first, ...others]: readonly [Verdict, ...Verdict[]]): Verdict {
  return others.reduce((decisive, other) => {
    const isTighter =
      decisive.allowed && other.allowed
        ? other.remaining < decisive.remaining
        : other.retryAfterMs > decisive.retryAfterMs;
    return isTighter ? other : decisive;
  }, first);
}

function computeRetryMs({ previous, current, elapsedMs }: WindowCounts, left: number): number {
  if (current <= left) return computeFadeMs(left - current, previous) - elapsedMs;
  return WINDOW_MS - elapsedMs + computeFadeMs(left, current);
}

/** Returns the milliseconds of the next window until the weighted count falls to `left`. */
function computeFadeMs(left: number, count: number): number {
  return WINDOW_MS - Math.floor((left * WINDOW_MS) / count);
}

/** Returns the window of a time. */
export function findWindow(nowMs: number): { readonly index: number; readonly elapsedMs: number } {
  const index = Math.floor(nowMs / WINDOW_MS);
  return { index, elapsedMs: nowMs - index * WINDOW_MS };
}
