const [QUOTE, BACKSLASH, COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d,
];

/** The position of a member in the bytes of a JSON object: from its name to the end of its value. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** Yields the members of the outermost object in their order, up to the first one that is not JSON. */
export function* iterateMembers(bytes: Buffer): Generator<Member> {
  let at = bytes.indexOf(OPEN) + 1;
  for (;;) {
    at = bytes.indexOf(QUOTE, at);
    if (at < 0) return;
    const start = at;
    const nameEnd = endOfString(bytes, at);
    const name = parseName(bytes.toString('utf8', start, nameEnd));
    const colon = skipSpace(bytes, nameEnd);
    if (name === undefined || bytes[colon] !== COLON) return;
    const valueStart = skipSpace(bytes, colon + 1);
    const valueEnd = endOfValue(bytes, valueStart);
    yield { name, start, valueStart, valueEnd };
    at = skipSpace(bytes, valueEnd);
    if (bytes[at] !== COMMA) return;
  }
}

function parseName(quoted: string): string | undefined {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}

/** Most names and values are shorter than this, and a loop over them is faster than a call of `indexOf`. */
const SHORT_BYTES = 24;

/** Returns the position after the string that begins here, or the end of the bytes if the string does not end. */
export function endOfString(bytes: Buffer, start: number): number {
  const near = Math.min(bytes.length, start + SHORT_BYTES);
  for (let at = start + 1; at < near; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) break;
  }
  for (let quote = bytes.indexOf(QUOTE, start + 1); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return bytes.length;
}

export function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function endOfValue(bytes: Buffer, start: number): number {
  if (bytes[start] === QUOTE) return endOfString(bytes, start);
  if (bytes[start] === OPEN || bytes[start] === OPEN_LIST) return endOfContainer(bytes, start);
  let at = start;
  while (at < bytes.length && bytes[at] !== COMMA && bytes[at] !== CLOSE && !isSpace(bytes[at])) at += 1;
  return at;
}

/** Returns the position after the object or list that begins here, or the end of the bytes if it does not end. */
export function endOfContainer(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (byte === OPEN || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return bytes.length;
}

/** Counts the bytes of all strings under this name, at any depth. The name includes its quotes. */
export function countTextBytes(bytes: Buffer, quotedName: Buffer): number {
  let sum = 0;
  for (let at = bytes.indexOf(quotedName); at >= 0; at = bytes.indexOf(quotedName, at + quotedName.length)) {
    const colon = skipSpace(bytes, at + quotedName.length);
    const start = skipSpace(bytes, colon + 1);
    if (bytes[colon] === COLON && bytes[start] === QUOTE) sum += endOfString(bytes, start) - start - 2;
  }
  return sum;
}

const MODEL = Buffer.from('"model"');
/** The beginning of each letter of the name when it is written as an escape. */
const ESCAPED_LETTER = Buffer.from('\\u006');

/**
 * Sets a member of a JSON object. No other byte changes. If the name occurs more than once, each occurrence gets the
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

/** Removes the members with this name from a JSON object. Apart from commas, no other byte changes. */
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
 * Sets each member called `model` of a JSON object. No other byte changes. The object must have such a member, with a
 * string as its value.
 */
export function withModel(body: Buffer, from: string, to: string): Buffer {
  const at = body.indexOf(MODEL);
  // a quote within a string is escaped, so a name that occurs once belongs to the member
  const isOnce = at >= 0 && body.indexOf(MODEL, at + MODEL.length) < 0 && !body.includes(ESCAPED_LETTER);
  if (!isOnce) return withMember(body, 'model', JSON.stringify(to));
  return from === to ? body : withString(body, at + MODEL.length, to);
}

/** Replaces the value of the member with the name that ends here. */
function withString(bytes: Buffer, nameEnd: number, value: string): Buffer {
  const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
  return Buffer.concat([
    bytes.subarray(0, start),
    Buffer.from(JSON.stringify(value)),
    bytes.subarray(endOfString(bytes, start)),
  ]);
}
