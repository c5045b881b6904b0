import { lastObjectCalled, objectAtEnd, parsed } from '../../json-bytes/find-objects.ts';
import type { JsonObject, Usage } from '../protocols/protocol.ts';
import type { RelayCall } from '../requests/relay-call.ts';

/** A longer answer is not parsed; its usage is searched for. */
const PARSED_BYTES_MAX = 64 * 1024;
const USAGE = 'usage';
/** The members that hold usage in any of the protocols. */
const HOLDERS = [USAGE, 'usageMetadata', 'meta'];

/** Reads the usage that a JSON answer, or the end of one, reports. */
export function usageInBytes(bytes: Buffer, { endpoint: { protocol }, content }: RelayCall): Usage | undefined {
  const usage = protocol.readsOnlyUsage === true ? objectAtEnd(bytes, USAGE) : undefined;
  if (usage !== undefined) return protocol.usageIn({ usage }, content);
  const answer = bytes.length <= PARSED_BYTES_MAX ? parsed(bytes) : undefined;
  return protocol.usageIn(answer ?? holdersIn(bytes), content);
}

/** The objects that hold usage: the last one of each name in these bytes. */
export function holdersIn(bytes: Buffer): JsonObject {
  return Object.fromEntries(
    HOLDERS.flatMap((name) => {
      const value = lastObjectCalled(bytes, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
