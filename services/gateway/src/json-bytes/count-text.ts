import { endOfString, skipSpace } from './json-members.ts';

const [QUOTE, COLON] = [0x22, 0x3a];

/** Counts the bytes of all strings under this name, at any depth. The name includes its quotes. */
export function countTextBytes(bytes: Buffer, quotedName: Buffer): number {
  let sum = 0;
  for (let at = bytes.indexOf(quotedName); at >= 0; at = bytes.indexOf(quotedName, at + quotedName.length)) {
    const colon = skipSpace(bytes, at + quotedName.length);
    const start = skipSpace(bytes, colon + 1);
    if (bytes[colon] === COLON && bytes[start] === QUOTE) sum += endOfString(bytes, start) - start - 2;
  }
  return sum;
}
