import type { JsonObject } from '../protocols/protocol.ts';
import { scrubError } from '../scrub-error.ts';
import type { Identities } from '../scrub-error.ts';

const DATA = Buffer.from('data:');
const ERROR = Buffer.from('"error"');
const [LF, CR] = [0x0a, 0x0d];

/** The object in the one data line of a frame. */
export function eventIn(frame: Buffer): JsonObject | undefined {
  const place = dataIn(frame);
  if (place === undefined) return undefined;
  try {
    return objectOf(JSON.parse(frame.toString('utf8', place.start, place.end)));
  } catch {
    return undefined;
  }
}

/** A frame in which the upstream tells of a fault, without the upstream's identities; any other frame as it is. */
export function withoutIdentities(frame: Buffer, identities: Identities): Buffer {
  if (!frame.includes(ERROR)) return frame;
  const [place, event] = [dataIn(frame), eventIn(frame)];
  if (place === undefined || event === undefined || !isFault(event)) return frame;
  const scrubbed = scrubError(frame.subarray(place.start, place.end), identities);
  return scrubbed === undefined ? frame : Buffer.concat([frame.subarray(0, place.start), scrubbed, frame.subarray(place.end)]);
}

function isFault(event: JsonObject): boolean {
  return event['type'] === 'error' || objectOf(event['error']) !== undefined || objectOf(objectOf(event['response'])?.['error']) !== undefined;
}

function dataIn(frame: Buffer): { readonly start: number; readonly end: number } | undefined {
  const at = frame.indexOf(DATA);
  if (at < 0) return undefined;
  const start = at + DATA.length;
  const ends = [frame.indexOf(LF, start), frame.indexOf(CR, start)].filter((end) => end >= 0);
  return { start, end: ends.length === 0 ? frame.length : Math.min(...ends) };
}

function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as JsonObject : undefined;
}
