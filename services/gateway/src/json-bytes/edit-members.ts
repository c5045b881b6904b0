import { endOfString, iterateMembers, skipSpace } from './json-members.ts';

const MODEL = Buffer.from('"model"');
/** The beginning of each letter of the name when it is written as an escape. */
const ESCAPED_LETTER = Buffer.from('\\u006');
const [OPEN, CLOSE, COMMA] = [0x7b, 0x7d, 0x2c];

/**
 * Sets a member of a JSON object; no other byte changes. If the name occurs more than once, each occurrence gets the
 * value, so that two readers cannot read different values. If it does not occur, the member is inserted at the front.
 */
export function withMember(bytes: Buffer, name: string, valueJson: string): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  for (const member of iterateMembers(bytes)) {
    if (member.name !== name) continue;
    parts.push(bytes.subarray(copied, member.valueStart), Buffer.from(valueJson));
    copied = member.valueEnd;
  }
  if (copied > 0) return Buffer.concat([...parts, bytes.subarray(copied)]);
  const open = bytes.indexOf(OPEN) + 1;
  const isEmpty = bytes[skipSpace(bytes, open)] === CLOSE;
  return Buffer.concat([
    bytes.subarray(0, open),
    Buffer.from(`${JSON.stringify(name)}:${valueJson}${isEmpty ? '' : ','}`),
    bytes.subarray(open),
  ]);
}

/** Removes the members with this name from a JSON object; apart from commas, no other byte changes. */
export function withoutMember(bytes: Buffer, name: string): Buffer {
  const kept: Buffer[] = [];
  let copied = 0;
  let isFirst = true;
  for (const member of iterateMembers(bytes)) {
    if (member.name !== name) {
      isFirst = false;
      continue;
    }
    const after = skipSpace(bytes, member.valueEnd);
    const hasNext = bytes[after] === COMMA;
    // the first member goes with the comma after it, any other member with the comma before it
    const from = isFirst ? member.start : bytes.lastIndexOf(COMMA, member.start - 1);
    const to = isFirst && hasNext ? skipSpace(bytes, after + 1) : member.valueEnd;
    kept.push(bytes.subarray(copied, Math.max(from, copied)));
    copied = to;
  }
  return copied === 0 ? bytes : Buffer.concat([...kept, bytes.subarray(copied)]);
}

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
