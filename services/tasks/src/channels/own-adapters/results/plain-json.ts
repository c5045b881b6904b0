import { LARGE_JSON, parseBoundedText } from '@reelgate/platform/bounded-json';

const SETS_PROTOTYPE = '__proto__';

/**
 * Reads a JSON text from the code of an adapter. Throws an error if it is larger than an answer of an upstream may be,
 * or has a member that sets a prototype where an object is copied member by member.
 */
export function readPlainJson(text: string): unknown {
  const value = parseBoundedText(text, LARGE_JSON, 'result');
  for (let level: readonly unknown[] = [value]; level.length > 0; level = level.flatMap(listMembers));
  return value;
}

function listMembers(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Object.hasOwn(value, SETS_PROTOTYPE)) throw new Error(`has a member ${SETS_PROTOTYPE}`);
  return Object.values(value);
}
