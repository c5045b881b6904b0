import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A line to a server that a test can cut. A cut loses the bytes on the line and lets no connection through. */
export interface CuttableLine {
  /** The server's URL over this line. */
  readonly url: string;
  cut(): void;
  /** Holds the bytes on the line. Neither side learns of it. */
  freeze(): void;
  /** The number of connections over the line. */
  connections(): number;
  mend(): void;
  /** Leads the line to this server from now on. */
  moveTo(server: string): void;
  stop(): Promise<void>;
}

export async function openCuttableLine(server: string): Promise<CuttableLine> {
  let { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const line = createServer((near) => {
    keep(near);
    if (isCut) {
      near.resetAndDestroy();
      return;
    }
    const far = keep(connect(Number(port), hostname));
    near.pipe(far).on('close', () => near.destroy());
    far.pipe(near).on('close', () => far.destroy());
  }).listen(0, '127.0.0.1');
  await once(line, 'listening');
  const url = new URL(server);
  url.host = `127.0.0.1:${(line.address() as AddressInfo).port}`;
  return {
    url: url.href,
    cut,
    freeze: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    connections: () => sockets.size / 2,
    mend: () => {
      isCut = false;
    },
    moveTo: (other) => {
      ({ hostname, port } = new URL(other));
    },
    stop: async () => {
      cut();
      line.close();
      await once(line, 'close');
    },
  };
}
