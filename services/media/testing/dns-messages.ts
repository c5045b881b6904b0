const TYPE_A = 1;
const TYPE_CNAME = 5;
const TYPE_AAAA = 28;
const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;

/** An answer with more than addresses. */
export interface OddAnswer {
  readonly addresses?: readonly string[];
  /** 2: the server failed; 3: there is no such name; 5: the server refuses. */
  readonly code?: number;
  /** The aliases from the requested name to the name with the addresses. */
  readonly aliases?: readonly string[];
  readonly ttl?: number;
  readonly fault?: 'wrong id' | 'wrong question' | 'truncated' | 'cut off' | 'miscounted' | 'too short addresses';
  /** A forged answer that comes first: with another id, or from another port. */
  readonly forged?: readonly string[];
}

export function questionOf(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += length + 1;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Undefined: there is no such name. */
export function replyTo(query: Buffer, answer: readonly string[] | OddAnswer | undefined): Buffer {
  const { end } = questionOf(query);
  const odd: OddAnswer =
    answer === undefined ? { code: NO_SUCH_NAME } : 'length' in answer ? { addresses: answer } : answer;
  const { code = 0, fault } = odd;
  const records = recordsOf(query, odd);
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  if (fault === 'wrong id') header.writeUInt16BE(header.readUInt16BE(0) ^ 0x5555, 0);
  header.writeUInt16BE(0x8180 | (fault === 'truncated' ? 0x0200 : 0) | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length + (fault === 'miscounted' ? 9 : 0), 6);
  header.writeUInt32BE(0, 8);
  const asked =
    fault === 'wrong question'
      ? Buffer.concat([toName('another.example'), query.subarray(end - 4, end)])
      : query.subarray(HEADER_BYTES, end);
  const message = Buffer.concat([header, asked, ...records]);
  return fault === 'cut off' ? message.subarray(0, message.byteLength - 3) : message;
}

function recordsOf(query: Buffer, { addresses = [], aliases = [], ttl = 0, fault }: OddAnswer): readonly Buffer[] {
  const { type } = questionOf(query);
  const wanted = addresses.filter(
    (address) => address.includes(':') === (type === TYPE_AAAA) && (type === TYPE_A || type === TYPE_AAAA),
  );
  const owners = [Buffer.from([0xc0, HEADER_BYTES]), ...aliases.map(toName)];
  return [
    ...aliases.map((alias, at) => record(owners[at]!, TYPE_CNAME, ttl, toName(alias))),
    ...wanted.map((address) =>
      record(owners.at(-1)!, type, ttl, toBytes(address).subarray(fault === 'too short addresses' ? 1 : 0)),
    ),
  ];
}

function record(owner: Buffer, type: number, ttl: number, data: Buffer): Buffer {
  const start = Buffer.alloc(10);
  start.writeUInt16BE(type, 0);
  start.writeUInt16BE(1, 2);
  start.writeUInt32BE(ttl, 4);
  start.writeUInt16BE(data.byteLength, 8);
  return Buffer.concat([owner, start, data]);
}

function toName(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
    Buffer.from([0]),
  ]);
}

function toBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  return Buffer.concat(address.split(':').map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
}
