import { findLastObject, findObjectAtEnd, parseLastObject } from '../../json-bytes/find-objects.ts';
import type { JsonObject, Protocol, Usage } from '../protocols/protocol.ts';
import type { RelayCall } from '../requests/relay-call.ts';

/** A longer answer is not parsed; its usage is searched for. */
const PARSED_BYTES_MAX = 64 * 1024;
const USAGE = 'usage';
/** The bytes at the end that are kept to find the usage in. */
const TAIL_BYTES = 64 * 1024;

/** Reads the usage that a JSON answer, or the end of one, reports. */
export function readUsage(bytes: Buffer, { endpoint: { protocol }, content }: RelayCall): Usage | undefined {
  const usage = protocol.readsOnlyUsage === true ? findObjectAtEnd(bytes, USAGE) : undefined;
  if (usage !== undefined) return protocol.usageIn({ usage }, content);
  const answer = bytes.length <= PARSED_BYTES_MAX ? parseLastObject(bytes) : undefined;
  return protocol.usageIn(answer ?? findUsageHolders(bytes, protocol), content);
}

/** The objects that hold usage in the protocol: the last one of each name in these bytes. */
export function findUsageHolders(bytes: Buffer, { usageMembers }: Protocol): JsonObject {
  return Object.fromEntries(
    usageMembers.flatMap((name) => {
      const value = findLastObject(bytes, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Returns the last bytes of everything that has arrived, in which the usage is found. */
export function keepLastBytes(tail: Buffer, chunk: Buffer): Buffer {
  if (chunk.length >= TAIL_BYTES) return chunk.subarray(chunk.length - TAIL_BYTES);
  const whole = Buffer.concat([tail, chunk]);
  return whole.length <= TAIL_BYTES ? whole : whole.subarray(whole.length - TAIL_BYTES);
}
