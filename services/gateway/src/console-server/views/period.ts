import { invalid } from '../../dialects/wire/body-validator.ts';
import type { Period } from '../../domain/timestamp.ts';
import { readTimestamp } from '../../http/routes/account-usage-route.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_DEFAULT = 30;
const ISO_DAY_CHARACTERS = 10;

/** Reads the whole days of a query, in UTC. By default the period ends with today and begins 29 days earlier. */
export function readPeriod(query: URLSearchParams, now: number, daysMax: number): Period {
  const to = Math.ceil((readTimestamp(query, 'to') ?? now + 1) / DAY_MS) * DAY_MS;
  const from = Math.floor((readTimestamp(query, 'from') ?? to - DAYS_DEFAULT * DAY_MS) / DAY_MS) * DAY_MS;
  if (from >= to) throw invalid('to', 'must not be before from', 'invalid_request');
  if (to - from > daysMax * DAY_MS)
    throw invalid('to', `must be at most ${daysMax} days after from`, 'invalid_request');
  return { from, to };
}

/** The days of a period as YYYY-MM-DD. */
export function listDays({ from, to }: Period): readonly string[] {
  return Array.from({ length: (to - from) / DAY_MS }, (_, at) =>
    new Date(from + at * DAY_MS).toISOString().slice(0, ISO_DAY_CHARACTERS),
  );
}
