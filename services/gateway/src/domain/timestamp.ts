const DAY = /^\d{4}-\d{2}-\d{2}$/;
// in a query, a plus that is not encoded arrives as a space
const INSTANT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+ -]\d{2}:\d{2})$/;
const UNIX_SECONDS = /^\d{1,11}$/;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The time between two moments, in milliseconds since 1970. */
export interface Period {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/**
 * Parses a date (UTC), an RFC 3339 timestamp or Unix seconds to milliseconds since 1970. Returns undefined for any
 * other text. A date as the end of a period includes the whole day.
 */
export function parseTimestamp(text: string, at: 'beginning' | 'end'): number | undefined {
  if (UNIX_SECONDS.test(text)) return Number(text) * 1000;
  if (DAY.test(text)) {
    const midnight = parseDay(text);
    return midnight === undefined || at === 'beginning' ? midnight : midnight + DAY_MS;
  }
  const [, day] = INSTANT.exec(text) ?? [];
  if (day === undefined || parseDay(day) === undefined) return undefined;
  const ms = Date.parse(text.replace(' ', '+'));
  return Number.isNaN(ms) ? undefined : ms;
}

/** Parses a date. Returns undefined if the date does not exist, such as 2026-02-30. */
function parseDay(text: string): number | undefined {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, text.length) !== text ? undefined : ms;
}
