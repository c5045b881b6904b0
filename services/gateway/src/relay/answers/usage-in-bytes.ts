import type { FrozenCall } from '../requests/relay-call.ts';
import { endOfObject, skipSpace } from '../../json-bytes/json-members.ts';
import type { JsonObject, Usage } from '../protocols/protocol.ts';

/** Up to here an answer is parsed whole; a longer one is only searched. */
const PARSED_BYTES_MAX = 64 * 1024;
/** The members that hold usage in any of the protocols. */
const HOLDERS = ['usage', 'usageMetadata', 'meta'];
const [COLON, OPEN] = [0x3a, 0x7b];
const USAGE = Buffer.from('"usage"');
/** Members with plain values, and the end of the object. */
const TAIL = /^(\s*,\s*"[^"\\]*"\s*:\s*("[^"\\]*"|[\w.+-]+))*\s*\}\s*$/;
const TAIL_BYTES_MAX = 512;

/** What a JSON answer, or its end, says of usage. */
export function usageInBytes(bytes: Buffer, { endpoint: { protocol }, content }: FrozenCall): Usage | undefined {
  const answer =
    (protocol.readsOnlyUsage === true ? atTheEnd(bytes) : undefined) ??
    (bytes.length <= PARSED_BYTES_MAX ? parsed(bytes) : undefined);
  return protocol.usageIn(answer ?? holdersIn(bytes), content);
}

/**
 * The usage of an answer that ends in it, or in a few short members behind it, as most do: the object that is closed there is the outermost
 * one, so the rest need not be parsed.
 */
function atTheEnd(bytes: Buffer): JsonObject | undefined {
  const at = bytes.lastIndexOf(USAGE);
  if (at < 0 || bytes[0] !== OPEN) return undefined;
  const open = skipSpace(bytes, skipSpace(bytes, at + USAGE.length) + 1);
  if (bytes[open] !== OPEN) return undefined;
  const end = endOfObject(bytes, open);
  const usage =
    bytes.length - end <= TAIL_BYTES_MAX && TAIL.test(bytes.toString('latin1', end))
      ? parsed(bytes.subarray(open, end))
      : undefined;
  return usage === undefined ? undefined : { usage };
}

/** The object that bytes are, if they are one. A list stands for its last object: that is how a stream without events comes. */
function parsed(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    const object: unknown = Array.isArray(value) ? value.at(-1) : value;
    return typeof object === 'object' && object !== null ? (object as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** The objects that hold usage, as the last of their name in these bytes. */
export function holdersIn(bytes: Buffer): JsonObject {
  return Object.fromEntries(
    HOLDERS.flatMap((name) => {
      const value = lastObjectCalled(name, bytes);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function lastObjectCalled(name: string, bytes: Buffer): JsonObject | undefined {
  const quoted = `"${name}"`;
  const at = bytes.lastIndexOf(quoted);
  if (at < 0) return undefined;
  const colon = skipSpace(bytes, at + quoted.length);
  const open = skipSpace(bytes, colon + 1);
  if (bytes[colon] !== COLON || bytes[open] !== OPEN) return undefined;
  return parsed(bytes.subarray(open, endOfObject(bytes, open)));
}
