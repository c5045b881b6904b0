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

/** Whether one more fits, given what was counted before it. */
export function judge({ previous, current, elapsedMs }: WindowCounts, limit: number): Verdict {
  const used = previous * (1 - elapsedMs / WINDOW_MS) + current;
  const allowed = used + 1 <= limit;
  const resetMs = WINDOW_MS - elapsedMs;
  return {
    allowed, limit, resetMs,
    remaining: Math.max(0, Math.floor(limit - used - (allowed ? 1 : 0))),
    retryAfterMs: allowed ? 0 : untilOneFits({ previous, current, elapsedMs }, limit),
  };
}

function untilOneFits({ previous, current, elapsedMs }: WindowCounts, limit: number): number {
  const room = limit - 1;
  const fadesToRoom = (count: number, beside: number): number => Math.ceil(WINDOW_MS * (1 - (room - beside) / count));
  if (current <= room) return Math.max(1, fadesToRoom(previous, current) - elapsedMs);
  return WINDOW_MS - elapsedMs + Math.max(1, fadesToRoom(current, 0));
}

/** The window that a moment lies in. */
export function windowAt(nowMs: number): { readonly index: number; readonly elapsedMs: number } {
  const index = Math.floor(nowMs / WINDOW_MS);
  return { index, elapsedMs: nowMs - index * WINDOW_MS };
}
