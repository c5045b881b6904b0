import { findLastObject, findObjectAtEnd, parseLastObject } from '../../json-bytes/find-objects.ts';
import type { JsonObject, Protocol, Usage } from '../protocols/protocol.ts';
import type { RelayCall } from '../requests/relay-call.ts';

/** A longer answer is not parsed; its usage is searched for. */
const PARSED_BYTES_MAX = 64 * 1024;
const USAGE = 'usage';

/** Reads the usage that a JSON answer, or the end of one, reports. */
export function readUsage(bytes: Buffer, { endpoint: { protocol }, content }: RelayCall): Usage | undefined {
  const usage = protocol.readsOnlyUsage === true ? findObjectAtEnd(bytes, USAGE) : undefined;
  if (usage !== undefined) return protocol.usageIn({ usage }, content);
  const answer = bytes.length <= PARSED_BYTES_MAX ? parseLastObject(bytes) : undefined;
  return protocol.usageIn(answer ?? findUsageHolders(bytes, protocol), content);
}

/** The objects that hold usage in the protocol: the last one of each name in these bytes. */
export function findUsageHolders(bytes: Buffer, { usageMembers }: Pick<Protocol, 'usageMembers'>): JsonObject {
  return Object.fromEntries(
    usageMembers.flatMap((name) => {
      const value = findLastObject(bytes, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
