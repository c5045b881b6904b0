import { withMember } from './edit-members.ts';
import { endOfString, skipSpace } from './json-members.ts';

const MODEL = Buffer.from('"model"');
/** How every letter of the name begins if it is written as an escape. */
const ESCAPED_LETTER = Buffer.from('\\u006');

/**
 * The JSON object with this model in each member called `model`; no other byte changes. The object has such a member, and its
 * value is a string.
 */
export function withModel(body: Buffer, from: string, to: string): Buffer {
  const at = body.indexOf(MODEL);
  // in a string its quotes would be escaped: a name that occurs once is that of the member
  const isOnce = at >= 0 && body.indexOf(MODEL, at + MODEL.length) < 0 && !body.includes(ESCAPED_LETTER);
  if (!isOnce) return withMember(body, 'model', JSON.stringify(to));
  return from === to ? body : withString(body, at + MODEL.length, to);
}

/** The bytes with this string as the value of the member whose name ends here. */
function withString(bytes: Buffer, nameEnd: number, value: string): Buffer {
  const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
  return Buffer.concat([
    bytes.subarray(0, start),
    Buffer.from(JSON.stringify(value)),
    bytes.subarray(endOfString(bytes, start)),
  ]);
}
