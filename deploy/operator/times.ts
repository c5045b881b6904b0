import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { systemClock } from '@reelgate/platform/clock';
import { parseDuration } from '@reelgate/platform/config/units';
import { WrongCall } from './command.ts';

export function isoTime(time: Timestamp | undefined): string | undefined {
  return time === undefined ? undefined : timestampDate(time).toISOString();
}

/** A moment so long from now. */
export function fromNow(text: string): Timestamp {
  const ms = parseDuration(text);
  if (ms === undefined) throw new WrongCall(`${text} is no duration; write it like 12h or 30d`);
  return timestampFromMs(systemClock.now() + ms);
}
