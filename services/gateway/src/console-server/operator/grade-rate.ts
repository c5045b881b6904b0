import type { Grade } from '../../../console/api/operator-now.ts';
import type { GetActivityResponse } from '@reelgate/proto/tasks/v1/operator_service';
import type { MinuteCounts } from '@reelgate/proto/tasks/v1/activity';
import { sumLast } from './minute-series.ts';

/** The number of events in a window, and the number of bad ones among them. */
export interface Share {
  readonly bad: number;
  readonly total: number;
}

/**
 * The windows of a rate, which both end now. Events are counted by the minute, so the short one is the running minute
 * and the one before, 60 to 120 seconds, and the long one is the running minute and the nine before.
 */
export interface Windows {
  readonly short: Share;
  readonly long: Share;
}

/** From these shares on a rate warns, or fails. */
export interface RateLimits {
  readonly warn: number;
  readonly fail: number;
}

/**
 * `faulty`: bad events go on. `recovering`: there were events in the short window, and none was bad. `quiet`: there was
 * none, so nothing shows that the fault is over.
 */
export type RateState = 'fine' | 'faulty' | 'recovering' | 'quiet';

export interface RateGrade {
  readonly grade: Grade;
  readonly state: RateState;
}

/** With fewer bad events in ten minutes, a share says too little for alarm: one create at night may be the only one. */
const FAIL_BAD_MIN = 3;
/** One bad event among many in the short window is judged by the long one alone. */
const WARN_BAD_MIN = 2;

/**
 * Grades a rate. The short window alone decides between a fault and a warning, so what is over is never a fault; the
 * long window keeps a small fault that lasts in sight.
 */
export function gradeRate({ short, long }: Windows, { warn, fail }: RateLimits): RateGrade {
  if (short.bad > 0 && reaches(short, fail) && long.bad >= FAIL_BAD_MIN) return { grade: 'fail', state: 'faulty' };
  const isFaultyNow = short.bad >= WARN_BAD_MIN && reaches(short, warn);
  if (!isFaultyNow && !(long.bad > 0 && reaches(long, warn))) return { grade: 'ok', state: 'fine' };
  if (short.bad > 0) return { grade: 'warn', state: 'faulty' };
  return { grade: 'warn', state: short.total > 0 ? 'recovering' : 'quiet' };
}

function reaches({ bad, total }: Share, share: number): boolean {
  return total > 0 && bad / total >= share;
}

/** The windows of a rate, in minutes, the running one included. */
const SHORT_MINUTES = 2;
export const LONG_MINUTES = 10;

/** The name of the events of a rate, and how they are counted. */
interface RateSubject {
  readonly bad: (minute: MinuteCounts) => number;
  readonly total: (minute: MinuteCounts) => number;
  readonly noun: string;
  readonly was: string;
}

export interface JudgedRate {
  readonly grade: Grade;
  readonly state: RateState;
  readonly why: string;
  readonly windows: Windows;
}

/** Grades a rate of the activity, and says why in a sentence. */
export function judgeRate(activity: GetActivityResponse, limits: RateLimits, rated: RateSubject): JudgedRate {
  const { bad, total } = rated;
  const share = (count: number) => ({ bad: sumLast(activity, count, bad), total: sumLast(activity, count, total) });
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
