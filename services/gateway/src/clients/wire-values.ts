import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';

/** Milliseconds since 1970; undefined: there is no time. */
export function msOf(timestamp: Timestamp | undefined): number | undefined {
  return timestamp === undefined ? undefined : timestampMs(timestamp);
}

/** Undefined: the text is empty. */
export function textOf(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** The message, which the tasks service always sends. */
export function must<T>(value: T | undefined): T {
  if (value === undefined)
    throw new Problem({
      kind: 'internal',
      reason: 'internal_error',
      message: 'something went wrong here',
      cause: new Error('the tasks service left something out'),
    });
  return value;
}
