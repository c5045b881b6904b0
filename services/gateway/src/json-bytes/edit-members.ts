import { endOfString, membersOf, skipSpace } from './json-members.ts';

const [OPEN, CLOSE, COMMA] = [0x7b, 0x7d, 0x2c];

/**
 * The JSON object with this value under this name; no other byte is changed. Where the name stands more than once, every one of them
 * takes the value, so that no two readers can disagree about it; where it does not, it is put in front.
 */
export function withMember(bytes: Buffer, name: string, valueJson: string): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  for (const member of membersOf(bytes)) {
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

/** The same bytes with this string instead of the one that is the value of the member whose name ends here. */
export function withString(bytes: Buffer, nameEnd: number, value: string): Buffer {
  const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
  return Buffer.concat([
    bytes.subarray(0, start),
    Buffer.from(JSON.stringify(value)),
    bytes.subarray(endOfString(bytes, start)),
  ]);
}

/** The JSON object without any member of this name; no other byte is changed but for the commas between. */
export function withoutMember(bytes: Buffer, name: string): Buffer {
  const kept: Buffer[] = [];
  let copied = 0;
  let isFirst = true;
  for (const member of membersOf(bytes)) {
    if (member.name !== name) {
      isFirst = false;
      continue;
    }
    const after = skipSpace(bytes, member.valueEnd);
    const hasNext = bytes[after] === COMMA;
    // a first one takes the comma behind it along, any other the one before
    const from = isFirst ? member.start : bytes.lastIndexOf(COMMA, member.start - 1);
    const to = isFirst && hasNext ? skipSpace(bytes, after + 1) : member.valueEnd;
    kept.push(bytes.subarray(copied, Math.max(from, copied)));
    copied = to;
  }
  return copied === 0 ? bytes : Buffer.concat([...kept, bytes.subarray(copied)]);
}
