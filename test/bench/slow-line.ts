import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A line to a server on which every byte takes this long in each direction. */
export interface SlowLine {
  /** The server's URL over this line. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function openSlowLine(server: string, oneWayMs: number): Promise<SlowLine> {
  const { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket
      .setNoDelay(true)
      .on('error', () => undefined)
      .on('close', () => sockets.delete(socket));
  };
  // Timers of one duration end in the order of their beginning.
  const lead = (from: Socket, to: Socket): void => {
    from.on('data', (part: Buffer) => void setTimeout(() => to.write(part), oneWayMs));
    from.on('close', () => to.destroy());
  };
  const line = createServer((near) => {
    const far = keep(connect(Number(port), hostname));
    lead(keep(near), far);
    lead(far, near);
  }).listen(0, '127.0.0.1');
  await once(line, 'listening');
  const url = new URL(server);
  url.host = `127.0.0.1:${(line.address() as AddressInfo).port}`;
  return {
    url: url.href,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      line.close();
      await once(line, 'close');
    },
  };
}
