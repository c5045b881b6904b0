import type { Budget } from '../../../console/api/usage.ts';
import { formatDecimal } from '../../domain/decimal.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The spending of this many whole days is the pace. */
export const PACE_DAYS = 7;
/** A date further away says nothing. */
const DAYS_SHOWN_MAX = 3660n;

export interface BudgetFacts {
  /** The money that can still be spent, in billionths. */
  readonly freeNanos: bigint;
  /** The spending of the last `PACE_DAYS` whole days, in billionths. */
  readonly spentNanos: bigint;
  readonly currency: string;
  readonly now: number;
}

/** The day on which the free money is spent if each day costs as much as the mean of the last days. */
export function projectBudget({ freeNanos, spentNanos, currency, now }: BudgetFacts): Budget {
  const perDay = spentNanos / BigInt(PACE_DAYS);
  const free = { amount: formatDecimal(freeNanos), currency };
  const budget = { free, perDay: { amount: formatDecimal(perDay), currency } };
  if (freeNanos <= 0n) return { ...budget, reachedAt: now };
  if (perDay <= 0n || freeNanos / perDay > DAYS_SHOWN_MAX) return budget;
  const wholeDays = freeNanos / perDay;
  const rest = Number(((freeNanos % perDay) * 1000n) / perDay) / 1000;
  return { ...budget, reachedAt: now + Math.round((Number(wholeDays) + rest) * DAY_MS) };
}
