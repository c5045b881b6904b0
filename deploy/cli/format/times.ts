import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { systemClock } from '@reelgate/platform/clock';
import { parseDuration } from '@reelgate/platform/config/units';
import { WrongCall } from '../command.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Up to twice a unit, the smaller unit is more exact: 90 s, 36 h. */
const UNITS: readonly (readonly [string, number])[] = [
  ['d', DAY_MS],
  ['h', HOUR_MS],
  ['m', MINUTE_MS],
];

export function isoTime(time: Timestamp | undefined): string | undefined {
  return time === undefined ? undefined : timestampDate(time).toISOString();
}

/** Formats a time as `90s ago` or `in 3d`, empty if there is no time. */
export function relativeTime(time: Timestamp | undefined, now: number = systemClock.now()): string {
  if (time === undefined) return '';
  const ms = timestampDate(time).getTime() - now;
  return ms > 0 ? `in ${shortDuration(ms)}` : `${shortDuration(-ms)} ago`;
}

export function shortDuration(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= 2 * each) ?? ['s', SECOND_MS];
  return `${Math.floor(ms / size)}${unit}`;
}

/** The time at which a duration that begins now ends. */
export function fromNow(text: string): Timestamp {
  return timestampFromMs(systemClock.now() + readDuration(text));
}

/** The time at which a duration that ends now began. */
export function ago(text: string): Timestamp {
  return timestampFromMs(systemClock.now() - readDuration(text));
}

export function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new WrongCall(`expected a duration such as 12h or 30d, not ${text}`);
  return ms;
}
