import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TaskReply } from './running-sandbox.ts';

export type Received = { readonly challenge?: string; readonly task?: TaskReply };

/** A client's callback address that keeps the posts it receives. */
export type CallbackReceiver = {
  readonly url: string;
  readonly received: readonly Received[];
  /** Resolves when `count` posts have arrived, the challenge included. */
  has(count: number): Promise<void>;
  stop(): Promise<void>;
};

const echo = (response: ServerResponse, body: Received): void => {
  response.end(JSON.stringify({ challenge: body.challenge }));
};

export async function callbackReceiver(
  answer: (response: ServerResponse, body: Received) => void = echo,
): Promise<CallbackReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Received;
      received.push(body);
      answer(response, body);
      server.emit('received');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    received,
    has: async (count) => {
      while (received.length < count) await once(server, 'received');
    },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
