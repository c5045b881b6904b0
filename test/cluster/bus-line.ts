import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const END_OF_LINE = '\r\n';
/** A delivery of JetStream asks for its acknowledgement at such a subject. */
const ACKNOWLEDGED_AT = '$JS.ACK.';
const LINE_BYTES_MAX = 64 * 1024;

/** The fate of one delivered event. */
export type Fate = 'as it is' | 'twice' | 'dropped' | { readonly lateMs: number };

/** A line to a NATS server that can repeat, lose and delay the events that the server delivers. */
export interface BusLine {
  /** Chooses the fate of each delivery from now on. */
  tamper(fate: () => Fate): void;
  /** Counts of the deliveries with each fate. */
  readonly counts: Readonly<Record<'twice' | 'dropped' | 'late', number>>;
  close(): Promise<void>;
}

/** Listens at `address` on the NATS port. Only deliveries of JetStream are changed, all other traffic passes. */
export async function startBusLine(address: string, server: { host: string; port: number }): Promise<BusLine> {
  const counts = { twice: 0, dropped: 0, late: 0 };
  const sockets = new Set<Socket>();
  let choose = (): Fate => 'as it is';
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket
      .setNoDelay(true)
      .on('error', () => undefined)
      .on('close', () => sockets.delete(socket));
  };
  const line = createServer((near) => {
    const far = keep(connect(server));
    keep(near).pipe(far);
    const frames = framesOf((frame, isDelivery) => {
      const fate = isDelivery ? choose() : 'as it is';
      if (typeof fate === 'object') {
        counts.late += 1;
        void wait(fate.lateMs, undefined, { ref: false }).then(() => near.writable && near.write(frame));
        return;
      }
      if (fate !== 'as it is') counts[fate] += 1;
      if (fate !== 'dropped') near.write(frame);
      if (fate === 'twice') near.write(frame);
    });
    far.on('data', frames);
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
  }).listen(server.port, address);
  await once(line, 'listening');
  return {
    tamper: (fate) => {
      choose = fate;
    },
    counts,
    close: async () => {
      const closed = once(line, 'close');
      line.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Splits the bytes of the server into whole frames: a line, with the payload if it announces one. */
function framesOf(take: (frame: Buffer, isDelivery: boolean) => void): (part: Buffer) => void {
  let kept: Buffer = Buffer.alloc(0);
  return (part) => {
    kept = kept.length === 0 ? part : Buffer.concat([kept, part]);
    for (;;) {
      const end = kept.indexOf(END_OF_LINE);
      if (end < 0) {
        if (kept.length > LINE_BYTES_MAX) throw new Error('a line of the bus has no end');
        return;
      }
      const words = kept.toString('latin1', 0, end).split(' ');
      const bytes = end + END_OF_LINE.length + payloadOf(words);
      if (kept.length < bytes) return;
      take(
        kept.subarray(0, bytes),
        words.some((word) => word.startsWith(ACKNOWLEDGED_AT)),
      );
      kept = kept.subarray(bytes);
    }
  };
}

/** The bytes of the payload with its end of line, from the last word of MSG and HMSG. */
function payloadOf(words: readonly string[]): number {
  const kind = words[0]?.toUpperCase();
  return kind === 'MSG' || kind === 'HMSG' ? Number(words.at(-1)) + END_OF_LINE.length : 0;
}
