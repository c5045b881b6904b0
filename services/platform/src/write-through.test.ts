import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { AnswerClosed, writeThrough } from './write-through.ts';

const PIECE = Buffer.alloc(100_000, 'piece');
const servers: Server[] = [];

/** What became of each answer. */
async function serving(pieces: () => AsyncIterable<Uint8Array>, stallMs?: number): Promise<{ readonly port: number; readonly outcomes: Promise<unknown>[] }> {
  const outcomes: Promise<unknown>[] = [];
  const server = createServer((_request, response) => {
    outcomes.push(writeThrough(pieces(), response, stallMs).then(() => 'whole', (error: unknown) => error));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, outcomes };
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

test('one buffer serves for all pieces, each once the one before has left', async () => {
  const buffer = Buffer.alloc(300_000);
  const { port, outcomes } = await serving(async function* () {
    for (let turn = 0; turn < 20; turn += 1) yield buffer.fill(turn);
  });
  const [response] = await once(get({ port, host: '127.0.0.1' }), 'response') as [IncomingMessage];
  const body = Buffer.concat(await response.toArray() as Buffer[]);

  expect(body.length).toBe(20 * buffer.length);
  expect([0, 7, 19].map((turn) => body.subarray(turn * buffer.length, (turn + 1) * buffer.length).every((byte) => byte === turn))).toEqual([true, true, true]);
  expect(await outcomes[0]).toBe('whole');
});

test.each<[string, () => AsyncIterable<Uint8Array>]>([
  ['between pieces', async function* () { yield PIECE; await new Promise(() => undefined); }],
  ['within one', async function* () { for (;;) yield PIECE; }],
])('a client that leaves %s ends it', async (_when, pieces) => {
  const { port, outcomes } = await serving(pieces);
  const [response] = await once(get({ port, host: '127.0.0.1' }), 'response') as [IncomingMessage];
  response.destroy();

  expect(await outcomes[0]).toBeInstanceOf(AnswerClosed);
});

test('a client that takes nothing for too long is let go', async () => {
  const { port, outcomes } = await serving(async function* () { for (;;) yield PIECE; }, 150);
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.pause().write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  while (outcomes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));

  expect(await outcomes[0]).toBeInstanceOf(AnswerClosed);
  socket.destroy();
});

test('what goes wrong with the pieces is told', async () => {
  const { port, outcomes } = await serving(async function* () { throw new Error('broken'); });
  get({ port, host: '127.0.0.1' }).on('error', () => undefined);
  while (outcomes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));

  expect(await outcomes[0]).toMatchObject({ message: 'broken' });
});
