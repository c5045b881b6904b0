import type { UsageView } from '../../../api/usage.ts';
import type { ChartShape } from './usage-query.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A line that is more than this many times above the sums would press them to the ground. */
const BUDGET_OVER_SUMS_MAX = 5;
/** A projection is drawn for at least this many days, and for no longer than the period itself. */
const AHEAD_DAYS_MIN = 7;
const ISO_DAY_CHARACTERS = 10;

type Points = readonly (number | null)[];

/** The numbers of a picture. The tables have the exact amounts, so these may be rounded. */
export interface ChartData {
  /** The days as YYYY-MM-DD, including the projected days. */
  readonly days: readonly string[];
  /** The upper ends of the parts of each day, the highest first, so that each is drawn over the one before. */
  readonly stacks: readonly Points[];
  /** The sums at the pace of the last days. */
  readonly projection?: Points;
  /** The sum at which the money of the account is spent. */
  readonly budget?: Points;
}

type ChartFacts = Pick<UsageView, 'days' | 'series' | 'budget'>;

/** Each day alone, or the sums up to it with the line at which the money is spent. */
export function buildChart(usage: ChartFacts, shape: ChartShape, now: number): ChartData {
  return shape === 'days' ? { days: usage.days, stacks: stackSeries(usage) } : buildSums(usage, now);
}

/** The series one upon the other. */
export function stackSeries({ days, series }: Pick<UsageView, 'days' | 'series'>): number[][] {
  const sums = days.map(() => 0);
  const tops = series.map(({ amounts }) =>
    amounts.map((amount, day) => {
      sums[day] = (sums[day] ?? 0) + Number(amount);
      return sums[day];
    }),
  );
  return tops.toReversed();
}

function buildSums(usage: ChartFacts, now: number): ChartData {
  const { days, budget } = usage;
  const today = days.indexOf(toDay(now));
  const sums = stackSeries(usage).map(addUp);
  if (today < 0 || budget === undefined) return { days, stacks: sums };
  const spent = sums[0]?.[today] ?? 0;
  const perDay = Number(budget.perDay.amount);
  const limit = spent + Number(budget.free.amount);
  const until = budget.reachedAt === undefined ? Infinity : Math.ceil((budget.reachedAt - now) / DAY_MS);
  const ahead = Math.max(0, Math.min(until, Math.max(AHEAD_DAYS_MIN, days.length)));
  const all = [
    ...days.slice(0, today + 1),
    ...Array.from({ length: ahead }, (_, at) => toDay(now + (at + 1) * DAY_MS)),
  ];
  const projection = all.map((_, at) =>
    at < today ? null : Math.min(spent + perDay * (at - today), Math.max(limit, spent)),
  );
  const isNear = limit <= BUDGET_OVER_SUMS_MAX * (projection.at(-1) ?? 0);
  return {
    days: all,
    stacks: sums.map((tops) => all.map((_, at) => (at <= today ? (tops[at] ?? 0) : null))),
    projection,
    ...(isNear ? { budget: all.map(() => limit) } : {}),
  };
}

function addUp(amounts: readonly number[]): number[] {
  let sum = 0;
  return amounts.map((amount) => (sum += amount));
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, ISO_DAY_CHARACTERS);
}
