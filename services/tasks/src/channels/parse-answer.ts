import { assertBounds, LARGE_JSON } from '@reelgate/platform/bounded-json';
import type { JsonBounds } from '@reelgate/platform/bounded-json';

/** Whole numbers of at least this length can be too large for a number of JavaScript. They are rare. */
const LONG_NUMBER = /\d{16}/;
const WHOLE = /^-?\d+$/;

/**
 * Parses a text of an upstream. A whole number that a number of JavaScript cannot hold, such as an id above 2^53,
 * becomes the text of its digits. Throws if the text is not JSON or exceeds the bounds.
 */
export function parseAnswer(text: string, bounds: JsonBounds = LARGE_JSON): unknown {
  assertBounds(Buffer.from(text), bounds);
  return LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

/** Node passes the text of a value; the types of this TypeScript do not know it yet. */
function keepDigits(this: unknown, _name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const { source = '' } = context ?? {};
  return typeof value === 'number' && !Number.isSafeInteger(value) && WHOLE.test(source) ? source : value;
}
