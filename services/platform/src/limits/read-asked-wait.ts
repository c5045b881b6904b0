import { readSizeRefusal } from '../content-refusal.ts';

/**
 * The longest wait of an upstream that is obeyed. After it one call asks again, so an upstream that names a wrong unit
 * or the end of a month stops a peer for an hour and no longer.
 */
export const ASKED_WAIT_MS_MAX = 3_600_000;

const SECOND_MS = 1000;
/** The statuses with which an upstream asks its callers to wait. 529 is the status of overloaded models. */
const ASKING_STATUSES: ReadonlySet<number> = new Set([429, 503, 529]);
const THROTTLED = 429;
/** A smaller number is a count of seconds, a larger one a time: in seconds, or above the second bound in milliseconds. */
const EPOCH_SECONDS_MIN = 1_000_000_000;
const EPOCH_MS_MIN = 100_000_000_000;
/** The name of a header with the time at which a limit is renewed, such as `x-ratelimit-reset-requests`. */
const RESET = /^(?:x-|anthropic-)?ratelimit(?:-.+)?-reset(?:-.+)?$/;
/** The draft of the IETF before its headers had names of their own: `limit=10, remaining=0, reset=7`. */
const RESET_PARAMETER = /(?:^|[;,\s])(?:reset|t)=(\d{1,9})(?:$|[;,\s])/;
const REMAINING_PARAMETER = /(?:^|[;,\s])(?:remaining|r)=(\d{1,15})(?:$|[;,\s])/;
const NUMBER = /^\d{1,15}(\.\d{1,9})?$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;
const DURATION =
  /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?$/;
const UNITS_MS = [86_400_000, 3_600_000, 60_000, SECOND_MS, 1] as const;
/** The members of a body that name a wait, with the milliseconds of their unit. */
const BODY_MEMBERS: Readonly<Record<string, number>> = {
  retry_after_ms: 1,
  retryAfterMs: 1,
  retry_after_seconds: SECOND_MS,
  retry_after: SECOND_MS,
  retryAfter: SECOND_MS,
  retryDelay: SECOND_MS,
  retry_delay: SECOND_MS,
};
/** The objects of a body that contain these members, and the depth to which they are followed. */
const BODY_PARTS = ['error', 'details', 'detail', 'parameters', 'metadata', 'data'] as const;
const BODY_DEPTH_MAX = 4;
const BODY_LIST_MAX = 16;

/** An answer of an upstream. `body` is its JSON, undefined if there is none. */
export interface AskingAnswer {
  readonly status: number;
  readonly headers: WaitHeaders;
  readonly body: unknown;
}

/**
 * Returns the milliseconds for which an answer asks its callers to wait, or 0 if it does not. `isThrottle` means that
 * the message says that the upstream limits its callers, whatever the status. `Retry-After` counts before a field of
 * the body, and a field before the end of a limit. A refusal of the size of one request asks for no wait.
 */
export function readAskedWaitMs({ status, headers, body }: AskingAnswer, now: number, isThrottle = false): number {
  if (readSizeRefusal(status, body) !== undefined) return 0;
  if (!isThrottle && !ASKING_STATUSES.has(status)) return 0;
  const named = readRetryAfterMs(headers, { now, mostMs: ASKED_WAIT_MS_MAX }) || readBodyWaitMs(body);
  const asked = named > 0 || !(isThrottle || status === THROTTLED) ? named : readResetMs(headers, now);
  return Math.min(Math.ceil(asked), ASKED_WAIT_MS_MAX);
}

/** Reads the first wait in the members of an error, such as `RetryInfo` of Google's APIs. */
function readBodyWaitMs(body: unknown, depth = 0): number {
  if (typeof body !== 'object' || body === null || depth > BODY_DEPTH_MAX) return 0;
  if (Array.isArray(body))
    return firstWait(body.slice(0, BODY_LIST_MAX).map((one) => () => readBodyWaitMs(one, depth + 1)));
  const members = body as Readonly<Record<string, unknown>>;
  const here = Object.entries(BODY_MEMBERS).map(
    ([name, unitMs]) =>
      () =>
        readWaitMs(members[name], unitMs),
  );
  const below = BODY_PARTS.map((name) => () => readBodyWaitMs(members[name], depth + 1));
  return firstWait([...here, ...below]);
}

function firstWait(reads: readonly (() => number)[]): number {
  for (const read of reads) {
    const waitMs = read();
    if (waitMs > 0) return waitMs;
  }
  return 0;
}

/** Reads a number or a text of it in the unit, or a duration such as `1m30s`. */
function readWaitMs(value: unknown, unitMs: number): number {
  if (typeof value === 'number') return Number.isFinite(value) && value > 0 ? value * unitMs : 0;
  if (typeof value !== 'string') return 0;
  return NUMBER.test(value) ? Number(value) * unitMs : readDurationMs(value);
}

function readDurationMs(text: string): number {
  const parts = DURATION.exec(text);
  return parts === null ? 0 : UNITS_MS.reduce((sum, unitMs, index) => sum + Number(parts[index + 1] ?? 0) * unitMs, 0);
}

/**
 * Reads when the exhausted limits are renewed. The latest of them counts. A limit with a remainder has not refused the
 * call. A limit without a stated remainder may have.
 */
function readResetMs(headers: WaitHeaders, now: number): number {
  let waitMs = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') continue;
    if (RESET.test(name) && isUsedUp(headers[name.replace('reset', 'remaining')]))
      waitMs = Math.max(waitMs, readResetTimeMs(value.trim(), now));
    if (name === 'ratelimit' && isUsedUp(REMAINING_PARAMETER.exec(value)?.[1]))
      waitMs = Math.max(waitMs, Number(RESET_PARAMETER.exec(value)?.[1] ?? 0) * SECOND_MS);
  }
  return waitMs;
}

function isUsedUp(remaining: WaitHeaders[string]): boolean {
  return remaining === undefined || Number(remaining) <= 0;
}

/** Reads a count of seconds, a duration, or a time in seconds, in milliseconds or as a date. */
function readResetTimeMs(text: string, now: number): number {
  if (TIMESTAMP.test(text)) return Math.max(0, Date.parse(text) - now || 0);
  if (!NUMBER.test(text)) return readDurationMs(text);
  const value = Number(text);
  if (value < EPOCH_SECONDS_MIN) return value * SECOND_MS;
  return Math.max(0, (value < EPOCH_MS_MIN ? value * SECOND_MS : value) - now);
}

/** The three forms of an HTTP date begin with a day and have a time. Other texts that the parser knows are no dates. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/;

/** The headers by their names in lower case. */
export type WaitHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

interface WaitBounds {
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
