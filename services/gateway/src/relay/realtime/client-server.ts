import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { RealtimeSettings } from './realtime-settings.ts';

/** A handshake to accept, and the content of its answer. */
export interface Acceptance {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly requestId: string;
  /** The subprotocol that the upstream chose, empty if it chose none. */
  readonly protocol: string;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
}

/** Turns connections of clients into WebSockets. */
export interface ClientServer {
  /** Resolves to the client's side, or to undefined if the client has left. */
  accept(acceptance: Acceptance): Promise<WebSocket | undefined>;
  close(): void;
}

export function newClientServer({ messageBytesMax }: RealtimeSettings): ClientServer {
  const accepted = new WeakMap<IncomingMessage, Acceptance>();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    handleProtocols: (_, request) => accepted.get(request)?.protocol || false,
  });
  server.on('headers', (headers, request) => {
    headers.push(`x-request-id: ${accepted.get(request)?.requestId ?? ''}`);
  });
  return {
    accept: (acceptance) => {
      const { request, socket, head, gone } = acceptance;
      if (gone.aborted) return Promise.resolve(undefined);
      accepted.set(request, acceptance);
      return new Promise((resolve) => {
        gone.addEventListener('abort', () => resolve(undefined), { once: true });
        server.handleUpgrade(request, socket, head, (client) => {
          // a close event follows every error
          client.on('error', () => undefined);
          resolve(client);
        });
      });
    },
    close: () => server.close(),
  };
}
