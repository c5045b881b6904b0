import { parseAnsweredJson } from '@reelgate/platform/bounded-json';
import { endOfContainer, skipSpace } from './json-members.ts';

const [COLON, OPEN] = [0x3a, 0x7b];
/** Members with plain values, and the end of the object. */
const TAIL = /^(\s*,\s*"[^"\\]*"\s*:\s*("[^"\\]*"|[\w.+-]+))*\s*\}\s*$/;
const TAIL_BYTES_MAX = 512;

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Finds the object under this name in a JSON object that ends with it, or with a few plain members after it. The object
 * that is closed there is the outermost one, so the rest need not be parsed. Returns undefined if there is no such
 * object or these bytes do not show it.
 */
export function findObjectAtEnd(bytes: Buffer, name: string): JsonObject | undefined {
  if (bytes[0] !== OPEN) return undefined;
  const found = locateLastObject(bytes, name);
  const isAtEnd =
    found !== undefined && bytes.length - found.end <= TAIL_BYTES_MAX && TAIL.test(bytes.toString('latin1', found.end));
  return isAtEnd ? parseLastObject(bytes.subarray(found.start, found.end)) : undefined;
}

/**
 * Finds the object under the last member of this name, at any depth. The bytes can be the end of a longer JSON text.
 */
export function findLastObject(bytes: Buffer, name: string): JsonObject | undefined {
  const found = locateLastObject(bytes, name);
  return found === undefined ? undefined : parseLastObject(bytes.subarray(found.start, found.end));
}

function locateLastObject(bytes: Buffer, name: string): { readonly start: number; readonly end: number } | undefined {
  const quoted = `"${name}"`;
  const at = bytes.lastIndexOf(quoted);
  if (at < 0) return undefined;
  const colon = skipSpace(bytes, at + quoted.length);
  const start = skipSpace(bytes, colon + 1);
  if (bytes[colon] !== COLON || bytes[start] !== OPEN) return undefined;
  return { start, end: endOfContainer(bytes, start) };
}

/** Some writers begin a text with it. */
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/**
 * Parses the bytes as an object. Of a list it takes the last object, because a stream without events arrives as a list.
 */
export function parseLastObject(bytes: Buffer): JsonObject | undefined {
  try {
    const isMarked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    const value: unknown = parseAnsweredJson(isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes);
    const object: unknown = Array.isArray(value) ? value.at(-1) : value;
    return typeof object === 'object' && object !== null ? (object as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
