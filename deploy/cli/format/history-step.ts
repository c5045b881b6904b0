/** An entry of the life of a task. */
export interface Step {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  /** The part of the time before it that the text explains, in milliseconds. */
  readonly tookMs?: number;
}

const TEXT_MAX = 200;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** From here on tenths of a second do not matter. */
const WHOLE_FROM_MS = 10 * SECOND_MS;

/** Writes `0.8 s`, `47 s`, `12 min 5 s` or `3 h 20 min`. */
export function asSeconds(ms: number): string {
  if (ms < WHOLE_FROM_MS) return `${(Math.round(ms / 100) / 10).toFixed(1)} s`;
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${whole(ms, MINUTE_MS)} min ${whole(ms % MINUTE_MS, SECOND_MS)} s`;
  return `${whole(ms, HOUR_MS)} h ${whole(ms % HOUR_MS, MINUTE_MS)} min`;
}

/** The words of an upstream on one line of bounded length. */
export function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length <= TEXT_MAX ? line : `${line.slice(0, TEXT_MAX - 1)}…`;
}

function whole(ms: number, unit: number): string {
  return String(Math.floor(ms / unit));
}
