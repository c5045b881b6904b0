const DAY_MS = 24 * 60 * 60 * 1000;
const ISO_DAY_CHARACTERS = 10;

/** Periods that one click chooses. */
export type Preset = 'today' | 'last7' | 'last30' | 'last90' | 'month' | 'before';

export interface Period {
  /** Dates (UTC) such as 2026-11-30; both days are in the period. */
  readonly from: string;
  readonly to: string;
}

/** The days of a preset, in UTC. */
export function resolvePreset(preset: Preset, now: number): Period {
  const date = new Date(now);
  const month = (offset: number): number => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1);
  const last = (days: number): Period => ({ from: toUtcDate(now - (days - 1) * DAY_MS), to: toUtcDate(now) });
  const periods: Readonly<Record<Preset, Period>> = {
    today: last(1),
    last7: last(7),
    last30: last(30),
    last90: last(90),
    month: { from: toUtcDate(month(0)), to: toUtcDate(now) },
    before: { from: toUtcDate(month(-1)), to: toUtcDate(month(0) - DAY_MS) },
  };
  return periods[preset];
}

/** The period of the address. Without a begin it has 30 days, and without an end it ends today. */
export function parsePeriod(query: URLSearchParams, now: number): Period {
  const to = readDate(query.get('to')) ?? toUtcDate(now);
  const end = Date.parse(to);
  return { from: readDate(query.get('from')) ?? resolvePreset('last30', Number.isNaN(end) ? now : end).from, to };
}

/**
 * The bounds of a period for a request of the contracts. The end is exclusive. A text that is no date stays as it is, so
 * that the service refuses it by its field.
 */
export function toBounds({ from, to }: Period): Period {
  return { from: addDays(from, 0), to: addDays(to, 1) };
}

/** The begin of a day that is some days after a date. A text that is no date stays as it is. */
export function addDays(date: string, days: number): string {
  const at = Date.parse(date);
  return Number.isNaN(at) ? date : new Date(at + days * DAY_MS).toISOString();
}

/** The date of a text such as 2026-11-30, also with a time of day. A text that is no date stays as it is. */
function readDate(text: string | null): string | undefined {
  if (text === null || text === '') return undefined;
  return Number.isNaN(Date.parse(text)) ? text : text.slice(0, ISO_DAY_CHARACTERS);
}

function toUtcDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, ISO_DAY_CHARACTERS);
}
