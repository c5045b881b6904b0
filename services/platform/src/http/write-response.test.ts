import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '../../testing/until.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { AnswerClosed, writeThrough } from './write-response.ts';

const PIECE_MS = 300_000;
const PIECE = Buffer.alloc(100_000, 'piece');
const servers: Server[] = [];

/** The outcome of each response. */
async function serving(
  pieces: () => AsyncIterable<Uint8Array>,
  clock: Clock = systemClock,
): Promise<{ readonly port: number; readonly outcomes: Promise<unknown>[] }> {
  const outcomes: Promise<unknown>[] = [];
  const server = createServer((_request, response) => {
    outcomes.push(
      writeThrough(pieces(), response, { clock, pieceMs: PIECE_MS }).then(
        () => 'whole',
        (error: unknown) => error,
      ),
    );
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

test('one buffer carries all pieces, each after the previous one was sent', async () => {
  const buffer = Buffer.alloc(300_000);
  const { port, outcomes } = await serving(async function* () {
    for (let turn = 0; turn < 20; turn += 1) yield buffer.fill(turn);
  });
  const [response] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
  const body = Buffer.concat((await response.toArray()) as Buffer[]);

  expect(body.length).toBe(20 * buffer.length);
  expect(
    [0, 7, 19].map((turn) =>
      body.subarray(turn * buffer.length, (turn + 1) * buffer.length).every((byte) => byte === turn),
    ),
  ).toEqual([true, true, true]);
  expect(await outcomes[0]).toBe('whole');
});

test.each<[string, () => AsyncIterable<Uint8Array>]>([
  [
    'between pieces',
    async function* () {
      yield PIECE;
      await new Promise(() => undefined);
    },
  ],
  [
    'within one',
    async function* () {
      for (;;) yield PIECE;
    },
  ],
])('a client that leaves %s ends the response', async (_when, pieces) => {
  const { port, outcomes } = await serving(pieces);
  const [response] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
  response.destroy();

  expect(await outcomes[0]).toBeInstanceOf(AnswerClosed);
});

test.each([
  ['nothing', 0],
  ['a byte a second', 1],
  ['ten bytes a second', 10],
])('a client that reads %s is disconnected after the time limit of one piece', async (_what, bytes) => {
  const clock = fakeClock();
  let isOver = false;
  let pieces = 0;
  const { port, outcomes } = await serving(async function* () {
    try {
      for (; ; pieces += 1) yield PIECE;
    } finally {
      isOver = true;
    }
  }, clock);
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.pause().write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  // the system buffers a few pieces for the client at once
  let [quiet, before] = [0, -1];
  await until(() => {
    quiet = outcomes.length === 1 && pieces === before ? quiet + 1 : 0;
    before = pieces;
    return quiet === 10;
  });

  let seconds = 0;
  for (; !isOver && seconds < (2 * PIECE_MS) / 1000; seconds += 1) {
    if (bytes > 0) socket.read(bytes);
    await clock.advance(1000);
  }

  expect(await outcomes[0]).toBeInstanceOf(AnswerClosed);
  expect(seconds).toBeGreaterThanOrEqual(PIECE_MS / 1000);
  expect(seconds).toBeLessThanOrEqual(PIECE_MS / 1000 + 5);
  socket.destroy();
});

test('a client that reads each piece late but in time gets all pieces', async () => {
  const clock = fakeClock();
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<undefined>());
  const { port, outcomes } = await serving(async function* () {
    for (const gate of gates) {
      await gate.promise;
      yield PIECE;
    }
  }, clock);
  const [response] = await Promise.all([
    once(get({ port, host: '127.0.0.1' }), 'response').then(([one]) => one as IncomingMessage),
    (async () => {
      await until(() => outcomes.length === 1);
      gates[0]!.resolve(undefined);
    })(),
  ]);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  for (const [index, gate] of gates.entries()) {
    gate.resolve(undefined);
    await until(() => bytes === (index + 1) * PIECE.length);
    await clock.advance(PIECE_MS - 1000);
  }

  expect(await outcomes[0]).toBe('whole');
});

test('a failure of the source rejects the write', async () => {
  const { port, outcomes } = await serving(async function* () {
    throw new Error('broken');
  });
  get({ port, host: '127.0.0.1' }).on('error', () => undefined);
  while (outcomes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));

  expect(await outcomes[0]).toMatchObject({ message: 'broken' });
});
