import { endOfContainer, skipSpace } from './json-members.ts';

const [COLON, OPEN] = [0x3a, 0x7b];
/** Members with plain values, and the end of the object. */
const TAIL = /^(\s*,\s*"[^"\\]*"\s*:\s*("[^"\\]*"|[\w.+-]+))*\s*\}\s*$/;
const TAIL_BYTES_MAX = 512;

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The object under this name in a JSON object that ends in it, or in a few plain members behind it. The object that is closed
 * there is the outermost one, so the rest need not be parsed. Undefined: it is not there, or that cannot be told.
 */
export function objectAtEnd(bytes: Buffer, name: string): JsonObject | undefined {
  if (bytes[0] !== OPEN) return undefined;
  const found = lastObject(bytes, name);
  const isAtEnd =
    found !== undefined && bytes.length - found.end <= TAIL_BYTES_MAX && TAIL.test(bytes.toString('latin1', found.end));
  return isAtEnd ? parsed(bytes.subarray(found.start, found.end)) : undefined;
}

/** The object under the last member of this name, at any depth, also in the end of a longer JSON text. */
export function lastObjectCalled(bytes: Buffer, name: string): JsonObject | undefined {
  const found = lastObject(bytes, name);
  return found === undefined ? undefined : parsed(bytes.subarray(found.start, found.end));
}

function lastObject(bytes: Buffer, name: string): { readonly start: number; readonly end: number } | undefined {
  const quoted = `"${name}"`;
  const at = bytes.lastIndexOf(quoted);
  if (at < 0) return undefined;
  const colon = skipSpace(bytes, at + quoted.length);
  const start = skipSpace(bytes, colon + 1);
  if (bytes[colon] !== COLON || bytes[start] !== OPEN) return undefined;
  return { start, end: endOfContainer(bytes, start) };
}

/** The object that these bytes are; the last object of a list, which is how a stream without events arrives. */
export function parsed(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    const object: unknown = Array.isArray(value) ? value.at(-1) : value;
    return typeof object === 'object' && object !== null ? (object as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
