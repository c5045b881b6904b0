import { badField } from '../../billing-refusals.ts';
import { DAY_MS } from '../../domain/usage.ts';

const DAYS_MAX = 366;
/** The end of the year 9999. */
const TIME_MAX = 253_402_300_800_000;

/** Refuses a period that is empty, longer than a leap year, or outside the years 1970 to 9999. */
export function assertPeriod({ from, to }: { readonly from: number; readonly to: number }): void {
  if (from < 0 || to > TIME_MAX) throw badField('from', 'and to must be times from 1970 to 9999');
  if (from >= to) throw badField('to', 'must be later than from');
  if (to - from > DAYS_MAX * DAY_MS) throw badField('to', `must be at most ${DAYS_MAX} days after from`);
}
