import { findLastObject, findObjectAtEnd, parseLastObject } from '../../json-bytes/find-objects.ts';
import { iterateMembers } from '../../json-bytes/json-members.ts';
import { quoteWord } from '../protocols/mentions.ts';
import type { JsonObject } from '../protocols/protocol.ts';
import type { Usage } from '../../domain/call-usage.ts';
import { TOP_MEMBERS, USAGE_MEMBERS } from '../protocols/usage-counters.ts';
import type { RelayCall } from '../requests/relay-call.ts';

/** A longer answer is not parsed, and its usage is searched for. */
const PARSED_BYTES_MAX = 64 * 1024;
const OPEN = 0x7b;
const USAGE = 'usage';
/** Cohere's name. */
const META = 'meta';
/** The bytes at the end that are kept to find the usage in. */
const TAIL_BYTES = 64 * 1024;

/** Reads the usage that a JSON answer, or the end of one, reports. */
export function readUsage(bytes: Buffer, { endpoint: { protocol }, content }: RelayCall): Usage | undefined {
  const hasSearches = protocol.searchMark !== undefined && bytes.includes(protocol.searchMark);
  const usage = protocol.readsOnlyUsage === true && !hasSearches ? findObjectAtEnd(bytes, USAGE) : undefined;
  const found = usage === undefined ? undefined : protocol.usageIn({ usage }, content);
  if (found !== undefined) return found;
  // of images there are few values, and the usage is their number
  const isParsed = bytes.length <= PARSED_BYTES_MAX || hasSearches || protocol.imageMarks !== undefined;
  const answer = isParsed ? parseLastObject(bytes) : undefined;
  return protocol.usageIn(answer ?? { ...findTopCounters(bytes), ...findUsageHolders(bytes) }, content);
}

/** The objects that hold usage: the last one of each name in these bytes. */
export function findUsageHolders(bytes: Buffer): JsonObject {
  return Object.fromEntries(
    [...USAGE_MEMBERS, META].flatMap((name) => {
      const value = findLastObject(bytes, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * Finds the counters that some vendors write at the top level of the answer. The answer must begin with these bytes.
 */
function findTopCounters(bytes: Buffer): JsonObject {
  const found: Record<string, unknown> = {};
  if (bytes[0] !== OPEN || !TOP_MEMBERS.some((name) => bytes.includes(quoteWord(name)))) return found;
  for (const { name, valueStart, valueEnd } of iterateMembers(bytes))
    if (TOP_MEMBERS.includes(name)) found[name] = bytes.toString('latin1', valueStart, valueEnd);
  return found;
}

/** Returns the last bytes of everything that has arrived, in which the usage is found. */
export function keepLastBytes(tail: Buffer, chunk: Buffer): Buffer {
  if (chunk.length >= TAIL_BYTES) return chunk.subarray(chunk.length - TAIL_BYTES);
  const whole = Buffer.concat([tail, chunk]);
  return whole.length <= TAIL_BYTES ? whole : whole.subarray(whole.length - TAIL_BYTES);
}
