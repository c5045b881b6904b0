import { parseAnsweredJson } from '@reelgate/platform/bounded-json';
import type { JsonObject } from '../protocols/protocol.ts';
import { scrubError, scrubText } from './scrub-error.ts';
import type { Identities } from './scrub-error.ts';

const DATA = Buffer.from('data:');
const ERROR = Buffer.from('"error"');
const DONE = Buffer.from('[DONE]');
/** A line of a frame, and its words. */
const LINE = /^(data:|:|)(.*)$/gm;
const ERROR_EVENT = /^event: ?error\r?$/m;
/** Enough for the line with the name of the event, if it comes first. */
const EVENT_BYTES = 32;
const [LF, CR, COLON, OPEN, MARK_END] = [0x0a, 0x0d, 0x3a, 0x7b, 0xbf];

/** Parses the data of a frame as an object. */
export function parseEvent(frame: Buffer): JsonObject | undefined {
  return parseObject(joinData(frame, findDataSpans(frame)));
}

/** Reports whether a frame is the word with which chats end. */
export function isDone(frame: Buffer): boolean {
  return frame.length <= EVENT_BYTES && frame.includes(DONE);
}

/** Reports whether the name of a frame says that it is an error. */
export function isErrorEvent(frame: Buffer): boolean {
  return ERROR_EVENT.test(frame.toString('latin1', 0, EVENT_BYTES));
}

/** Reads an error that is plain text. */
export function readErrorText(frame: Buffer): string | undefined {
  return isErrorEvent(frame) ? joinData(frame, findDataSpans(frame)).toString('utf8').trim() : undefined;
}

/** Edits the JSON of a frame. Data of several lines becomes one line, because a break between them is white space. */
export function editData(frame: Buffer, edit: (json: Buffer) => Buffer): Buffer {
  const spans = findDataSpans(frame);
  return replaceData(frame, spans, edit(joinData(frame, spans, ' ')));
}

function replaceData(frame: Buffer, spans: readonly Span[], data: Buffer): Buffer {
  const [first, last] = [spans[0], spans.at(-1)];
  if (first === undefined || last === undefined) return frame;
  return Buffer.concat([frame.subarray(0, first.start), data, frame.subarray(last.end)]);
}

/**
 * Removes the upstream's identities from a frame that reports a fault. Any other frame stays as it is. `isFault`: the frame
 * is known to report one.
 */
export function scrubFrame(frame: Buffer, identities: Identities, isFault = false): Buffer {
  if (frame[0] === COLON && !frame.includes(DATA)) return scrubTextFrame(frame, identities);
  if (!isFault && !frame.includes(ERROR)) return isErrorEvent(frame) ? scrubTextFrame(frame, identities) : frame;
  const spans = findDataSpans(frame);
  const data = joinData(frame, spans);
  const scrubbed = isFault || reportsFault(data) ? scrubError(data, identities) : undefined;
  return scrubbed === undefined ? frame : replaceData(frame, spans, scrubbed);
}

/**
 * Removes identities from a frame of plain text: a comment, or an error that is not JSON. Such a frame has no text of a
 * model.
 */
function scrubTextFrame(frame: Buffer, identities: Identities): Buffer {
  const text = frame.toString('utf8');
  const scrubbed = text.replaceAll(LINE, (_line, head: string, words: string) => head + scrubText(words, identities));
  return scrubbed === text ? frame : Buffer.from(scrubbed);
}

/** Reports whether a JSON object contains a fault. */
function reportsFault(json: Buffer): boolean {
  const event = json.includes(ERROR) ? parseObject(json) : undefined;
  return (
    event !== undefined &&
    (event['type'] === 'error' || isPresent(event['error']) || isPresent(toJsonObject(event['response'])?.['error']))
  );
}

/** The bytes that can precede a line: a line break, or at the start of a stream the last byte of a byte order mark. */
const LINE_STARTS: ReadonlySet<number | undefined> = new Set([LF, CR, MARK_END]);

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The positions of the data in a frame: after each `data:` that begins a line, or all of a frame that is a bare object.
 */
function findDataSpans(frame: Buffer): readonly Span[] {
  if (frame[0] === OPEN) return [{ start: 0, end: frame.toString('latin1').trimEnd().length }];
  const spans: Span[] = [];
  for (let at = frame.indexOf(DATA); at >= 0; at = frame.indexOf(DATA, at + 1)) {
    if (at > 0 && !LINE_STARTS.has(frame[at - 1])) continue;
    const start = at + DATA.length;
    const ends = [frame.indexOf(LF, start), frame.indexOf(CR, start)].filter((end) => end >= 0);
    spans.push({ start, end: ends.length === 0 ? frame.length : Math.min(...ends) });
  }
  return spans;
}

function joinData(frame: Buffer, spans: readonly Span[], lineBreak = '\n'): Buffer {
  const [first] = spans;
  if (spans.length === 1 && first !== undefined) return frame.subarray(first.start, first.end);
  return Buffer.from(spans.map(({ start, end }) => frame.toString('utf8', start, end)).join(lineBreak));
}

function parseObject(json: Buffer): JsonObject | undefined {
  try {
    return toJsonObject(parseAnsweredJson(json));
  } catch {
    return undefined;
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

function toJsonObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}
