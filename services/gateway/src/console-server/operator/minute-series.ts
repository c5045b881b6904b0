import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { requireValue } from '../../clients/wire-values.ts';

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;

/** Counts of a minute, with the time at which it began. */
export interface CountedMinute {
  readonly minute?: Timestamp | undefined;
}

/** Reads the time at which a minute began. */
export function readBegin({ minute }: CountedMinute): number {
  return timestampMs(requireValue(minute));
}

/** Reads the clock of the service that counted. */
export function readClock({ now }: { readonly now?: Timestamp | undefined }): number {
  return timestampMs(requireValue(now));
}

/** Sums each of the last 60 minutes, the oldest first. The last one is the running minute. */
export function sumLastHour<M extends CountedMinute>(
  minutes: readonly M[],
  now: number,
  count: (minute: M) => number,
): readonly number[] {
  const last = Math.floor(now / MINUTE_MS);
  const sums = Array.from({ length: HOUR_MINUTES }, () => 0);
  for (const minute of minutes) {
    const place = HOUR_MINUTES - 1 - (last - Math.floor(readBegin(minute) / MINUTE_MS));
    if (place in sums) sums[place] = (sums[place] ?? 0) + count(minute);
  }
  return sums;
}

/** Counted minutes, with the clock of the service that counted them. */
export interface CountedHour<M extends CountedMinute> {
  readonly minutes: readonly M[];
  readonly now?: Timestamp | undefined;
}

/** Sums the running minute and those before it, this many in all. */
export function sumLast<M extends CountedMinute>(
  hour: CountedHour<M>,
  count: number,
  value: (minute: M) => number,
): number {
  return sumLastHour(hour.minutes, readClock(hour), value)
    .slice(-count)
    .reduce((sum, one) => sum + one, 0);
}

/** The length of the running minute and those before it, in minutes. */
export function lengthOfLast(count: number, now: number): number {
  return count - 1 + (now % MINUTE_MS) / MINUTE_MS;
}
