import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { Message } from '@bufbuild/protobuf';
import type { Problem } from '@reelgate/platform/problem';
import { refuse } from '../refusals.ts';

/**
 * The members that a mapping of this message has, apart from those that it renames or leaves out. A mapping with
 * `satisfies` this type does not compile if the message gets a member that the mapping does not have.
 */
export type MessageMapping<M extends Message, Other extends keyof M = never> = Readonly<
  Record<Exclude<keyof M, '$typeName' | '$unknown' | Other>, unknown> & Record<string, unknown>
>;

/** Converts a timestamp to milliseconds since 1970. Returns undefined without a timestamp. */
export function toMs(timestamp: Timestamp): number;
export function toMs(timestamp: Timestamp | undefined): number | undefined;
export function toMs(timestamp: Timestamp | undefined): number | undefined {
  return timestamp === undefined ? undefined : timestampMs(timestamp);
}

/** Returns the text, or undefined if it is empty. */
export function emptyToUndefined(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** Returns a value that the other service always sends. Throws a Problem if it is missing. */
export function requireValue<T>(value: T | undefined): T {
  if (value === undefined) throw incompleteAnswer();
  return value;
}

/** Creates the refusal for an incomplete answer of another service. */
export function incompleteAnswer(): Problem {
  return refuse('internal_error', {
    message: 'something went wrong here',
    cause: new Error('another service left something out'),
  });
}
