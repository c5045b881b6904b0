import { createSocket } from 'node:dgram';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const HEADER_BYTES = 12;
const REFUSED_NAME = 3;

/** What a name is answered with, asked for the first time, the second time and so on; the last one stays. `silence`: no answer. */
export type Answers = readonly (readonly string[] | 'silence')[];

export interface FakeDns {
  /** `127.0.0.1:port` */
  readonly address: string;
  answer(name: string, ...answers: Answers): void;
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** A DNS server that says what the test wants; IPv6 addresses are written whole (eight groups). */
export async function startFakeDns(): Promise<FakeDns> {
  const names = new Map<string, (readonly string[] | 'silence')[]>();
  const turns = new Map<string, number>();
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    const turn = turns.get(`${name} ${String(type)}`) ?? 0;
    turns.set(`${name} ${String(type)}`, turn + 1);
    const answers = names.get(name);
    const now = answers?.[Math.min(turn, answers.length - 1)];
    if (now === 'silence') return;
    const records = (now ?? []).filter((address) => address.includes(':') === (type === TYPE_AAAA) && (type === TYPE_A || type === TYPE_AAAA)).map(toBytes);
    socket.send(replyTo(query, { type, end, records, known: answers !== undefined }), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${String(socket.address().port)}`,
    answer: (name, ...answers) => { names.set(name, [...answers]); },
    asked,
    close: () => new Promise((resolve) => socket.close(() => { resolve(); })),
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += length + 1;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function replyTo(query: Buffer, { type, end, records, known }: { type: number; end: number; records: Buffer[]; known: boolean }): Buffer {
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180 | (known ? 0 : REFUSED_NAME), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  const answers = records.map((record) => {
    const start = Buffer.alloc(12);
    start.writeUInt16BE(0xc00c, 0);
    start.writeUInt16BE(type, 2);
    start.writeUInt16BE(1, 4);
    start.writeUInt16BE(record.byteLength, 10);
    return Buffer.concat([start, record]);
  });
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...answers]);
}

function toBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  return Buffer.concat(address.split(':').map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
}
