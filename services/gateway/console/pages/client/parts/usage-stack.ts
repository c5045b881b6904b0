import type { UsageView } from '../../../api/usage.ts';

export interface Stack {
  readonly days: readonly string[];
  /** The upper ends of the bars of each day, the highest first, so that each is drawn over the one before. */
  readonly bars: readonly (readonly number[])[];
}

/** The series one upon the other. Only the picture uses these numbers, so they may be rounded. */
export function stackSeries({ days, series }: Pick<UsageView, 'days' | 'series'>): Stack {
  const sums = days.map(() => 0);
  const tops = series.map(({ amounts }) =>
    amounts.map((amount, day) => {
      sums[day] = (sums[day] ?? 0) + Number(amount);
      return sums[day];
    }),
  );
  return { days, bars: tops.toReversed() };
}
