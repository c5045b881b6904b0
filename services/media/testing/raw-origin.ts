import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TlsOptions } from 'node:tls';

/** The exact bytes to send, or a function that handles the connection. */
export type Raw = string | ((socket: Socket) => void);

/** A server on loopback that sends the configured bytes by path, HTTP or not. */
export interface RawOrigin {
  readonly port: number;
  /** `127.0.0.1:port` */
  readonly host: string;
  url(raw: Raw): string;
  /** The number of connections, with any content. */
  connections(): number;
  /** The number of bytes that it received. */
  received(): number;
  close(): Promise<void>;
}

interface RawOptions {
  readonly tls?: TlsOptions;
  readonly address?: string;
  readonly port?: number;
  /** The answer to every request, in HTTP or not. */
  readonly always?: Raw;
}

export async function startRawOrigin({
  tls,
  address = '127.0.0.1',
  port: fixed = 0,
  always,
}: RawOptions = {}): Promise<RawOrigin> {
  const said: Raw[] = [];
  const open = new Set<Socket>();
  let connections = 0;
  let received = 0;
  const count = (socket: Socket): void => {
    connections += 1;
    open.add(socket.on('close', () => open.delete(socket)));
  };
  const serve = (socket: Socket): void => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received += bytes.byteLength;
    });
    socket.once('data', (bytes) => {
      const raw = always ?? said[Number(/^(?:GET|POST) \/(\d+)/.exec(bytes.toString('latin1'))?.[1])];
      if (typeof raw === 'function') raw(socket);
      else socket.end(raw ?? 'HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n', 'latin1');
    });
  };
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.on('connection', count);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(fixed, address, resolve));
  const { port } = server.address() as AddressInfo;
  const host = `${address}:${port}`;
  return {
    port,
    host,
    url: (raw) => `${tls === undefined ? 'http' : 'https'}://${host}/${said.push(raw) - 1}`,
    connections: () => connections,
    received: () => received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of open) socket.destroy();
      }),
  };
}

/** Writes as fast as the client reads, until the client leaves. */
export function floods(head: string, piece: string): Raw {
  const pieces = Buffer.from(piece.repeat(Math.ceil(60_000 / piece.length)), 'latin1');
  return (socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(pieces));
    };
    socket.on('drain', more);
    socket.write(head);
    more();
  };
}

/** An answer with the header lines `lines`, and a body. */
export function answer(lines: readonly string[], body = ''): string {
  return `HTTP/1.1 ${lines.join('\r\n')}\r\n\r\n${body}`;
}
