import net from 'node:net';
import type { RequestListener } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { openHttpPort } from './http-port.ts';
import type { HttpPort } from './http-port.ts';

const IDLE_S = 15;
let port: HttpPort | undefined;
let socket: net.Socket | undefined;
afterEach(async () => {
  socket?.destroy();
  await port?.stop();
});

const readAll: RequestListener = (request, response) => {
  request.resume().once('end', () => response.end('all'));
};

/** Sends the head of a request and the beginning of its body to a port with a handler. */
async function send(
  handle: RequestListener,
  head: string,
  begin: string,
): Promise<{ clock: FakeClock; seen: () => string }> {
  const clock = fakeClock();
  port = await openHttpPort({ listen: { host: '127.0.0.1', port: 0 }, health: () => false, clock });
  let arrived = (): void => undefined;
  const taken = new Promise<void>((resolve) => (arrived = resolve));
  const handler: RequestListener = (request, response) => {
    handle(request, response);
    arrived();
  };
  port.serve({ handle: handler, close: () => undefined, settled: async () => undefined });
  let seen = '';
  socket = net.connect(port.port, '127.0.0.1').on('error', () => undefined);
  socket.on('data', (chunk) => (seen += chunk.toString()));
  socket.write(`POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n${head}\r\n\r\n${begin}`);
  await taken;
  return { clock, seen: () => seen };
}

/** Lets seconds pass until there is an answer. */
async function passSeconds(
  clock: FakeClock,
  count: number,
  seen: () => string,
  each: () => unknown = () => undefined,
): Promise<void> {
  for (let second = 0; second < count && seen() === ''; second += 1) {
    each();
    await clock.advance(1000);
  }
}

test.each([
  ['with a length and no byte', 'content-length: 60000', '', ''],
  ['in chunks that have no end', 'transfer-encoding: chunked', '1\r\nx\r\n', ''],
  ['that drips', 'content-length: 60000', 'x', 'x'],
])('a body %s gets 408, and its connection is closed', async (_what, head, begin, drip) => {
  const { clock, seen } = await send(readAll, head, begin);
  const closed = new Promise((resolve) => socket?.once('close', resolve));

  await passSeconds(clock, 4 * IDLE_S, seen, () => socket?.write(drip));
  await closed;

  expect(seen()).toMatch(/^HTTP\/1\.1 408 /);
});

test('a body whose reader is slower than its client, and a request without a body, have all the time', async () => {
  const unread = await send(() => undefined, 'content-length: 60000', 'x'.repeat(1000));
  await passSeconds(unread.clock, 4 * IDLE_S, unread.seen);
  expect(unread.seen()).toBe('');
  socket?.destroy();
  await port?.stop();

  const without = await send(() => undefined, 'x-none: 1', '');
  await passSeconds(without.clock, 4 * IDLE_S, without.seen);
  expect(without.seen()).toBe('');
});
