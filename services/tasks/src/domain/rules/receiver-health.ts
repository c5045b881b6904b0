import type { Health } from '../webhook.ts';

/** From this many failures in a row a receiver gets one delivery at a time, after a wait. */
export const FAILURES_MAX = 5;
const WAIT_FIRST_MS = 5000;
const WAIT_MAX_MS = 60_000;
/** Bounds the power of two; the wait reaches its maximum long before. */
const DOUBLINGS_MAX = 10;
/** An endpoint that answers with failures alone for this long is disabled. */
export const FAILING_MAX_MS = 5 * 24 * 3_600_000;

export function afterSuccess({ lastFailureAt }: Health, at: number): Health {
  return { failures: 0, lastSuccessAt: at, lastFailureAt };
}

/** The circuit opens with the fifth failure in a row, and for longer with each further one. */
export function afterFailure({ failures, failingSince = Infinity, lastSuccessAt }: Health, at: number): Health {
  const count = failures + 1;
  return {
    failures: count,
    // The clock may have been set back.
    failingSince: Math.min(failingSince, at),
    openUntil: count < FAILURES_MAX ? undefined : at + waitAfter(count),
    lastSuccessAt,
    lastFailureAt: at,
  };
}

function waitAfter(failures: number): number {
  return Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** Math.min(failures - FAILURES_MAX, DOUBLINGS_MAX));
}

export function hasFailedTooLong({ failures, failingSince = Infinity }: Health, at: number): boolean {
  return failures >= FAILURES_MAX && at - failingSince >= FAILING_MAX_MS;
}
