const SECOND_MS = 1000;
const NUMBER = /^\d{1,15}(\.\d{1,9})?$/;
/** The three forms of an HTTP date begin with a day and have a time. Other texts that the parser knows are no dates. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/;

/** The headers by their names in lower case. */
export type WaitHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WaitBounds {
  readonly now: number;
  /** The longest wait that is obeyed. */
  readonly mostMs: number;
}

/**
 * Returns the wait in milliseconds that `retry-after-ms` or `Retry-After` asks for; 0 if neither does. A date counts from
 * the clock of the sender, which its `Date` header shows, or else from `now`.
 */
export function readRetryAfterMs(headers: WaitHeaders, { now, mostMs }: WaitBounds): number {
  const inMs = readNumber(headers['retry-after-ms']);
  if (inMs !== undefined && inMs > 0) return Math.min(Math.ceil(inMs), mostMs);
  const seconds = readNumber(headers['retry-after']);
  const waitMs =
    seconds === undefined
      ? parseHttpDate(headers['retry-after']) - (parseHttpDate(headers['date']) || now)
      : seconds * SECOND_MS;
  return waitMs > 0 ? Math.min(Math.ceil(waitMs), mostMs) : 0;
}

function readNumber(text: WaitHeaders[string]): number | undefined {
  return typeof text === 'string' && NUMBER.test(text.trim()) ? Number(text) : undefined;
}

function parseHttpDate(text: WaitHeaders[string]): number {
  return typeof text === 'string' && HTTP_DATE.test(text.trim()) ? Date.parse(text) : Number.NaN;
}
