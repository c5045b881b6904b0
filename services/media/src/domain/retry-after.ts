/** The longest wait that a receiver can ask for. */
export const RETRY_AFTER_MAX_MS = 86_400_000;
const SECONDS = /^\d{1,15}$/;
/** The three forms of an HTTP date begin with a day and have a time. Other texts that the parser knows are no dates. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/;

export interface WaitHeaders {
  readonly 'retry-after'?: string | readonly string[] | undefined;
  readonly date?: string | readonly string[] | undefined;
}

/**
 * Returns the wait that a receiver asks for, in milliseconds; 0 if it asks for none. A date counts from the clock of
 * the receiver, which its `Date` header shows, or else from `now`.
 */
export function retryAfterMs(headers: WaitHeaders, now: number): number {
  const asked = headers['retry-after'];
  if (typeof asked !== 'string') return 0;
  const text = asked.trim();
  const wait = SECONDS.test(text) ? Number(text) * 1000 : parseHttpDate(text) - (parseHttpDate(headers.date) || now);
  return wait > 0 ? Math.min(wait, RETRY_AFTER_MAX_MS) : 0;
}

function parseHttpDate(text: WaitHeaders['date']): number {
  return typeof text === 'string' && HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
}
