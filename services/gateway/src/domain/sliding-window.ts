/** A minute, cut in windows; the one before still counts by the part of it that lies within the last minute. */
export const WINDOW_MS = 60_000;

/** What was counted in this window and in the one before it. */
export interface WindowCounts {
  readonly previous: number;
  readonly current: number;
  /** Since this window began. */
  readonly elapsedMs: number;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly limit: number;
  /** How many more are allowed at this moment, after this one. */
  readonly remaining: number;
  /** Until this window ends. */
  readonly resetMs: number;
  /** When refused: after how long one more is allowed. */
  readonly retryAfterMs: number;
}

/** Whether one more fits, given what was counted before it. Counted in request-milliseconds, so that all numbers are whole. */
export function judge({ previous, current, elapsedMs }: WindowCounts, limit: number): Verdict {
  const free = (limit - current) * WINDOW_MS - previous * (WINDOW_MS - elapsedMs);
  const allowed = free >= WINDOW_MS;
  return {
    allowed,
    limit,
    resetMs: WINDOW_MS - elapsedMs,
    remaining: Math.max(0, Math.floor(free / WINDOW_MS) - (allowed ? 1 : 0)),
    retryAfterMs: allowed ? 0 : untilOneFits({ previous, current, elapsedMs }, limit - 1),
  };
}

function untilOneFits({ previous, current, elapsedMs }: WindowCounts, room: number): number {
  if (current <= room) return fadesTo(room - current, previous) - elapsedMs;
  return WINDOW_MS - elapsedMs + fadesTo(room, current);
}

/** When of a count in the window before no more than this is left, since the beginning of the window after it. */
function fadesTo(left: number, count: number): number {
  return WINDOW_MS - Math.floor((left * WINDOW_MS) / count);
}

/** The window that a moment lies in. */
export function windowAt(nowMs: number): { readonly index: number; readonly elapsedMs: number } {
  const index = Math.floor(nowMs / WINDOW_MS);
  return { index, elapsedMs: nowMs - index * WINDOW_MS };
}
