import { endOfString, isSpace } from './json-members.ts';

const META = /[\\^$.*+?()[\]{}|]/g;
/** Longer than any member that names a model. This many bytes are held back and read again with the next piece. */
const OVERLAP_BYTES = 4096;
const [QUOTE, COLON] = [0x22, 0x3a];
const NAMES = [Buffer.from('"model"'), Buffer.from('"modelVersion"')];
const PREFIX = Buffer.from('models/');

/** Replaces the upstream's id of a model with its public id. */
export interface ModelHider {
  /** Takes whole JSON, whole events or a piece of either. A value that is cut off at the end of the piece stays. */
  hide(bytes: Buffer): Buffer;
}

/**
 * Replaces the values of members called `model` or `modelVersion`, at any depth, that are the upstream's id or begin
 * with it, because upstreams append dates. Quotes in a string are escaped, so no string can contain a member. All other
 * bytes stay.
 */
export function modelHider(publicModel: string, upstreamModel: string): ModelHider {
  if (publicModel === upstreamModel) return { hide: (bytes) => bytes };
  const name = JSON.stringify(upstreamModel).slice(1, -1);
  // some writers escape slashes
  const needles = [...new Set([name, name.replaceAll('/', '\\/')])].map((text) => Buffer.from(text));
  const replacement = Buffer.from(JSON.stringify(publicModel));
  return { hide: (bytes) => needles.reduce((left, needle) => replaceModel(left, needle, replacement), bytes) };
}

function replaceModel(bytes: Buffer, needle: Buffer, replacement: Buffer): Buffer {
  let at = bytes.indexOf(needle);
  if (at < 0) return bytes;
  const parts: Buffer[] = [];
  let copied = 0;
  for (; at >= 0; at = bytes.indexOf(needle, at + needle.length)) {
    const start = findValueStart(bytes, at);
    if (start === undefined || start < copied) continue;
    const end = endOfString(bytes, start);
    // a value that is cut off is read again with the bytes that follow
    if (end === bytes.length) break;
    parts.push(bytes.subarray(copied, start), replacement);
    copied = end;
  }
  return copied === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(copied)]);
}

/** Finds the start of the string with the text that begins here, if it is the value of a member that names a model. */
function findValueStart(bytes: Buffer, textAt: number): number | undefined {
  const prefixed = textAt - PREFIX.length;
  const start = (prefixed > 0 && hasWordBefore(bytes, textAt, PREFIX) ? prefixed : textAt) - 1;
  if (bytes[start] !== QUOTE) return undefined;
  const colon = skipSpaceBackwards(bytes, start - 1);
  if (bytes[colon] !== COLON) return undefined;
  const nameEnd = skipSpaceBackwards(bytes, colon - 1) + 1;
  return NAMES.some((name) => hasWordBefore(bytes, nameEnd, name)) ? start : undefined;
}

/** Reports whether the bytes before `end` are this word. For a short word a loop is faster than `equals`. */
function hasWordBefore(bytes: Buffer, end: number, word: Buffer): boolean {
  const start = end - word.length;
  if (start < 0) return false;
  for (let at = 0; at < word.length; at += 1) if (bytes[start + at] !== word[at]) return false;
  return true;
}

function skipSpaceBackwards(bytes: Buffer, start: number): number {
  let at = start;
  while (isSpace(bytes[at])) at -= 1;
  return at;
}

/** Hides a model in bytes that arrive in pieces. It holds back the last bytes of each piece. */
interface PieceHider {
  take(piece: Buffer): Buffer;
  /** The bytes that are held back. */
  rest(): Buffer;
}

export function hideInPieces(hider: ModelHider): PieceHider {
  let back: Buffer = Buffer.alloc(0);
  return {
    take: (piece) => {
      const hidden = hider.hide(Buffer.concat([back, piece]));
      const ready = Math.max(0, hidden.length - OVERLAP_BYTES);
      back = hidden.subarray(ready);
      return hidden.subarray(0, ready);
    },
    rest: () => {
      const left = back;
      back = Buffer.alloc(0);
      return left;
    },
  };
}

/**
 * Replaces this id with another one in members called `model`, at any depth. Quotes in a JSON string are escaped, so
 * the pattern cannot match within a string. All other bytes stay.
 */
export function modelRenamer(from: string, to: string): (text: Buffer) => Buffer {
  if (from === to) return (text) => text;
  const needle = Buffer.from(JSON.stringify(from));
  const member = new RegExp(`("model"\\s*:\\s*)${JSON.stringify(from).replace(META, '\\$&')}`, 'g');
  const value = JSON.stringify(to);
  return (text) =>
    text.includes(needle) ? Buffer.from(text.toString().replace(member, (_, name: string) => name + value)) : text;
}
