import { withMember } from './edit-members.ts';
import { endOfString, skipSpace } from './json-members.ts';

const MODEL = Buffer.from('"model"');
/** The beginning of each letter of the name when it is written as an escape. */
const ESCAPED_LETTER = Buffer.from('\\u006');

/**
 * Sets each member called `model` of a JSON object; no other byte changes. The object must have such a member, with a
 * string as its value.
 */
export function withModel(body: Buffer, from: string, to: string): Buffer {
  const at = body.indexOf(MODEL);
  // a quote within a string is escaped, so a name that occurs once belongs to the member
  const isOnce = at >= 0 && body.indexOf(MODEL, at + MODEL.length) < 0 && !body.includes(ESCAPED_LETTER);
  if (!isOnce) return withMember(body, 'model', JSON.stringify(to));
  return from === to ? body : withString(body, at + MODEL.length, to);
}

/** Replaces the value of the member whose name ends here. */
function withString(bytes: Buffer, nameEnd: number, value: string): Buffer {
  const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
  return Buffer.concat([
    bytes.subarray(0, start),
    Buffer.from(JSON.stringify(value)),
    bytes.subarray(endOfString(bytes, start)),
  ]);
}
