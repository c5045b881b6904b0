import type { JsonObject } from '../protocols/protocol.ts';
import { scrubError } from '../scrub-error.ts';
import type { Identities } from '../scrub-error.ts';

const DATA = Buffer.from('data:');
const ERROR = Buffer.from('"error"');
const [LF, CR, OPEN] = [0x0a, 0x0d, 0x7b];

/** The object in the data of a frame. */
export function eventIn(frame: Buffer): JsonObject | undefined {
  return objectIn(dataOf(frame, dataIn(frame)));
}

/** A frame in which the upstream tells of a fault, without the upstream's identities; any other frame as it is. */
export function withoutIdentities(frame: Buffer, identities: Identities): Buffer {
  if (!frame.includes(ERROR)) return frame;
  const places = dataIn(frame);
  const data = dataOf(frame, places);
  const scrubbed = tellsOfFault(data) ? scrubError(data, identities) : undefined;
  const [first] = places;
  if (scrubbed === undefined || first === undefined) return frame;
  const last = places.at(-1) ?? first;
  return Buffer.concat([frame.subarray(0, first.start), scrubbed, frame.subarray(last.end)]);
}

/** Whether a JSON object says that something failed. */
export function tellsOfFault(json: Buffer): boolean {
  const event = json.includes(ERROR) ? objectIn(json) : undefined;
  return event !== undefined && (event['type'] === 'error' || isThere(event['error']) || isThere(objectOf(event['response'])?.['error']));
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** Where the data of a frame stands: behind each `data:` that begins a line; all of a frame that is a bare object. */
function dataIn(frame: Buffer): readonly Place[] {
  if (frame[0] === OPEN) return [{ start: 0, end: frame.toString('latin1').trimEnd().length }];
  const places: Place[] = [];
  for (let at = frame.indexOf(DATA); at >= 0; at = frame.indexOf(DATA, at + 1)) {
    if (at > 0 && frame[at - 1] !== LF && frame[at - 1] !== CR) continue;
    const start = at + DATA.length;
    const ends = [frame.indexOf(LF, start), frame.indexOf(CR, start)].filter((end) => end >= 0);
    places.push({ start, end: ends.length === 0 ? frame.length : Math.min(...ends) });
  }
  return places;
}

function dataOf(frame: Buffer, places: readonly Place[]): Buffer {
  const [first] = places;
  if (places.length === 1 && first !== undefined) return frame.subarray(first.start, first.end);
  return Buffer.from(places.map(({ start, end }) => frame.toString('utf8', start, end)).join('\n'));
}

function objectIn(json: Buffer): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(json.toString('utf8')));
  } catch {
    return undefined;
  }
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as JsonObject : undefined;
}
