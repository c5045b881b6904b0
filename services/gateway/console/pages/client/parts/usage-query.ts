const DAY_MS = 24 * 60 * 60 * 1000;

export const PRESETS = [7, 30, 90] as const;
const DAYS_DEFAULT = 30;

export interface Period {
  /** Dates (UTC) such as 2026-11-30; both days are in the period. */
  readonly from: string;
  readonly to: string;
}

/** The last days, today included. */
export function lastDays(days: number, now: number): Period {
  return { from: dateOf(now - (days - 1) * DAY_MS), to: dateOf(now) };
}

/** The period of the address; without one the last 30 days. */
export function periodOf(query: URLSearchParams, now: number): Period {
  const { from, to } = lastDays(DAYS_DEFAULT, now);
  return { from: query.get('from') ?? from, to: query.get('to') ?? to };
}

export function splitOf(query: URLSearchParams): 'model' | 'token' {
  return query.get('split') === 'token' ? 'token' : 'model';
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
