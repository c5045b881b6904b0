import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** An HTTP server of a test, on a free port of one address. */
export interface TestServer {
  readonly server: Server;
  /** `address:port` */
  readonly host: string;
  readonly url: string;
  /** Stops the server and cuts each connection, including upgraded ones. */
  stop(): Promise<void>;
}

export async function startTestServer(listener: RequestListener, address = '127.0.0.1'): Promise<TestServer> {
  const server = createServer(listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, address);
  await once(server, 'listening');
  const host = `${address}:${(server.address() as AddressInfo).port}`;
  return {
    server,
    host,
    url: `http://${host}`,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The whole body of a request. */
export async function readWhole(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
