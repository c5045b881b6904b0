import { createServer } from 'node:http';
import type { RequestListener, Server, ServerOptions } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { ServerTls } from './server-tls.ts';
import { toSecureContext } from './tls-files.ts';

const HANDSHAKE_MS_MAX = 10_000;

/** An HTTP server whose new connections have the newest certificates; without certificates it speaks plaintext. */
export function newHttpServer(tls: ServerTls | undefined, options: ServerOptions, listener: RequestListener): Server {
  if (tls === undefined) return createServer(options, listener);
  const { material, clientCertificates } = tls;
  const server = createSecureServer(
    {
      ...options,
      ...toSecureContext(material.current()),
      requestCert: clientCertificates !== 'none',
      rejectUnauthorized: clientCertificates === 'required',
      handshakeTimeout: HANDSHAKE_MS_MAX,
    },
    listener,
  );
  const leave = material.onChange((next) => {
    server.setSecureContext(toSecureContext(next));
  });
  server.once('close', leave);
  return server;
}
