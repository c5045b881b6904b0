import type { RpcAnswer } from '../../../api/calls.ts';

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;

export type ChannelHour = RpcAnswer<'tasks.OperatorService/GetActivity'>['channels'][number];
type ChannelMinute = ChannelHour['minutes'][number];
type Count = 'accepted' | 'refused' | 'unknown' | 'completed' | 'failed' | 'failedPolls';

/** The times of answers of an upstream in a minute. */
export interface AnswerMinute {
  readonly at: number;
  readonly p50: number;
  readonly p95: number;
}

/** Sums each of the last 60 minutes, the oldest first. The last one is the running minute. */
export function sumLastHour(
  minutes: readonly ChannelMinute[],
  now: number,
  count: (minute: ChannelMinute) => number,
): readonly number[] {
  const last = Math.floor(now / MINUTE_MS);
  const sums = Array.from({ length: HOUR_MINUTES }, () => 0);
  for (const minute of minutes) {
    const place = HOUR_MINUTES - 1 - (last - Math.floor(readBegin(minute) / MINUTE_MS));
    if (place in sums) sums[place] = (sums[place] ?? 0) + count(minute);
  }
  return sums;
}

/** Sums the counts of an hour. */
export function sumCounts(minutes: readonly ChannelMinute[]): Readonly<Record<Count, number>> {
  const sum = (name: Count): number => minutes.reduce((total, minute) => total + minute[name], 0);
  return {
    ...{ accepted: sum('accepted'), refused: sum('refused'), unknown: sum('unknown') },
    ...{ completed: sum('completed'), failed: sum('failed'), failedPolls: sum('failedPolls') },
  };
}

/** Counts the attempts of a minute. */
export function countAttempts({ accepted, refused, unknown }: ChannelMinute): number {
  return accepted + refused + unknown;
}

/** Counts the refused and lost attempts, the failed polls and the failed tasks of a minute. */
export function countChannelFaults({ refused, unknown, failed, failedPolls }: ChannelMinute): number {
  return refused + unknown + failed + failedPolls;
}

/** Lists the minutes with answers, the oldest first. */
export function listAnswers(minutes: readonly ChannelMinute[]): readonly AnswerMinute[] {
  return minutes.flatMap((minute) => {
    const { answerMsP50: p50, answerMsP95: p95 } = minute;
    return p50 === 0 || p95 === 0 ? [] : [{ at: readBegin(minute), p50, p95 }];
  });
}

function readBegin({ minute = '' }: ChannelMinute): number {
  return Date.parse(minute);
}
