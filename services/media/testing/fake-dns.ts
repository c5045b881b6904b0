import { createSocket } from 'node:dgram';
import type { RemoteInfo, Socket as UdpSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { questionOf, replyTo } from './dns-messages.ts';
import type { OddAnswer } from './dns-messages.ts';

const TYPE_AAAA = 28;
/** The largest packet that a resolver announces. */
const PACKET_BYTES_MAX = 1232;
const PORT_TRIES_MAX = 20;

export type Answer = readonly string[] | 'silence' | OddAnswer | { readonly four: Answer; readonly six: Answer };
/**
 * The answers to the first query of a name, the second and so on; the last one stays. `silence`: no answer.
 */
export type Answers = readonly Answer[];

export interface FakeDns {
  /** `127.0.0.1:port` */
  readonly address: string;
  answer(name: string, ...answers: Answers): void;
  /** The names of all queries, for both kinds of address. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/**
 * A DNS server with configured answers, over UDP and TCP. IPv6 addresses are written in full (eight groups).
 */
export async function startFakeDns(): Promise<FakeDns> {
  const names = new Map<string, Answers>();
  const queries = new Map<string, number>();
  const asked: string[] = [];
  const answerTo = (query: Buffer): Exclude<Answer, { four: Answer }> | undefined => {
    const { name, type } = questionOf(query);
    asked.push(name);
    const earlier = queries.get(`${name} ${type}`) ?? 0;
    queries.set(`${name} ${type}`, earlier + 1);
    const answers = names.get(name);
    let now = answers?.[Math.min(earlier, answers.length - 1)];
    while (now !== undefined && typeof now === 'object' && 'four' in now) now = type === TYPE_AAAA ? now.six : now.four;
    return now;
  };

  const { packets, streams } = await onePort();
  const elsewhere = createSocket('udp4');
  packets.on('message', (query: Buffer, from: RemoteInfo) => {
    const now = answerTo(query);
    if (now === 'silence') return;
    const isOdd = now !== undefined && 'forged' in now;
    if (isOdd && now.forged !== undefined) {
      packets.send(replyTo(query, { addresses: now.forged, fault: 'wrong id' }), from.port, from.address);
      elsewhere.send(replyTo(query, { addresses: now.forged }), from.port, from.address);
    }
    const reply = replyTo(query, now);
    packets.send(
      reply.byteLength > PACKET_BYTES_MAX ? replyTo(query, { fault: 'truncated' }) : reply,
      from.port,
      from.address,
    );
  });
  streams.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (query) => {
      const now = answerTo(query.subarray(2));
      if (now === 'silence') return;
      const reply = replyTo(query.subarray(2), now);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(reply.byteLength);
      socket.end(Buffer.concat([length, reply]));
    });
  });
  await new Promise<void>((resolve) => elsewhere.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${packets.address().port}`,
    answer: (name, ...answers) => {
      names.set(name, answers);
      for (const key of queries.keys()) if (key.startsWith(`${name} `)) queries.delete(key);
    },
    asked,
    close: async () => {
      await Promise.all(
        [packets, elsewhere].map(
          (socket) =>
            new Promise<void>((resolve) =>
              socket.close(() => {
                resolve();
              }),
            ),
        ),
      );
      await new Promise((resolve) => streams.close(resolve));
    },
  };
}

/** A port that is free for UDP can be in use for TCP: then it tries another. */
async function onePort(): Promise<{ readonly packets: UdpSocket; readonly streams: Server }> {
  for (let tries = 0; tries < PORT_TRIES_MAX; tries += 1) {
    const packets = createSocket('udp4');
    const streams = createServer();
    await new Promise<void>((resolve) => packets.bind(0, '127.0.0.1', resolve));
    const isFree = await new Promise<boolean>((resolve) => {
      streams
        .once('error', () => {
          resolve(false);
        })
        .listen(packets.address().port, '127.0.0.1', () => {
          resolve(true);
        });
    });
    if (isFree) return { packets, streams };
    await new Promise<void>((resolve) =>
      packets.close(() => {
        resolve();
      }),
    );
  }
  throw new Error('no port is free for both UDP and TCP');
}
