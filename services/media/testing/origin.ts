import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import { readFileSync } from 'node:fs';

export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on loopback with a configured behaviour for each path. */
export interface Origin {
  readonly port: number;
  /** `127.0.0.1:port` */
  readonly host: string;
  /** An address on this server with this behaviour. */
  url(behaviour: Behaviour): string;
  readonly hits: readonly { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

interface OriginOptions {
  readonly tls?: boolean;
  readonly address?: string;
}

export async function startOrigin({ tls = false, address = '127.0.0.1' }: OriginOptions = {}): Promise<Origin> {
  const behaviours: Behaviour[] = [];
  const hits: { path: string; headers: IncomingMessage['headers'] }[] = [];
  const listener: RequestListener = (request, response) => {
    hits.push({ path: request.url ?? '', headers: request.headers });
    const behaviour = behaviours[Number(/^\/(\d+)/.exec(request.url ?? '')?.[1])];
    if (behaviour === undefined) response.writeHead(404).end('no');
    else behaviour(request, response);
  };
  const server = tls ? createTlsServer({ key: TLS_KEY, cert: TLS_CERTIFICATE }, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  const host = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  return {
    port,
    host,
    hits,
    url: (behaviour) => `${tls ? 'https' : 'http'}://${host}/${behaviours.push(behaviour) - 1}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** A test authority, and the certificate of media.example and 127.0.0.1 that it signed. */
export const TLS_AUTHORITY = fixture('tls-authority.pem').toString();
const TLS_CERTIFICATE = fixture('tls-certificate.pem');
const TLS_KEY = fixture('tls-key.pem');

export function fixture(name: string): Buffer {
  return readFileSync(new URL(`./fixtures/${name}`, import.meta.url));
}

/** Serves bytes like any web host. */
export function serves(bytes: Uint8Array, headers: Readonly<Record<string, string>> = {}): Behaviour {
  return (_request, response) => {
    response.writeHead(200, { 'content-length': String(bytes.byteLength), ...headers }).end(bytes);
  };
}

export function redirects(location: string, status = 302): Behaviour {
  return (_request, response) => {
    response.writeHead(status, { location }).end('elsewhere');
  };
}
