import type { Grade } from '../../../console/api/operator-now.ts';
import type { Minute, Pulse } from '../../clients/pulse-client.ts';
import { gradeRate } from './grade-rate.ts';
import type { RateLimits, RateState, Windows } from './grade-rate.ts';
import { sumLast } from './minute-series.ts';

/** The windows of a rate, in minutes, the running one included. */
const SHORT_MINUTES = 2;
export const LONG_MINUTES = 10;

/** The name of the events of a rate, and how they are counted. */
interface RateSubject {
  readonly bad: (minute: Minute) => number;
  readonly total: (minute: Minute) => number;
  readonly noun: string;
  readonly was: string;
}

export interface JudgedRate {
  readonly grade: Grade;
  readonly state: RateState;
  readonly why: string;
  readonly windows: Windows;
}

/** Grades a rate of the pulse, and says why in a sentence. */
export function judgeRate(pulse: Pulse, limits: RateLimits, rated: RateSubject): JudgedRate {
  const { bad, total } = rated;
  const share = (count: number) => ({ bad: sumLast(pulse, count, bad), total: sumLast(pulse, count, total) });
  const windows = { short: share(SHORT_MINUTES), long: share(LONG_MINUTES) };
  const { grade, state } = gradeRate(windows, limits);
  return { grade, state, windows, why: describeRate(state, windows, rated) };
}

function describeRate(state: RateState, { short, long }: Windows, { noun, was }: RateSubject): string {
  const verb = (count: number): string => (count === 1 ? 'was' : 'were');
  const inLong = `${long.bad} of ${long.total} in the last ten`;
  if (state === 'quiet') return `in the last two minutes there were no ${noun}; ${inLong} ${verb(long.bad)} ${was}`;
  if (state === 'recovering')
    return `none of the last two minutes' ${short.total} ${noun} was ${was}, but ${inLong} ${verb(long.bad)}`;
  const inShort = `${short.bad} of ${short.total} ${noun} ${verb(short.bad)} ${was}`;
  return `${inShort} in the last two minutes, and ${inLong}`;
}
