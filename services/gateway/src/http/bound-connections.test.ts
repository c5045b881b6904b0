import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { boundConnections } from './gateway-ports.ts';
import { openPublicPort } from './http-server.ts';
import type { PublicPort } from './http-server.ts';

const MAX = 3;
const [ONE, OTHER] = ['127.0.0.1', '127.0.0.2'];

let port: PublicPort | undefined;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await port?.stop();
});

async function opened(trustedProxies: readonly string[] = []) {
  const [clock, metrics, lines] = [fakeClock(), newMetrics(false), [] as object[]];
  const log = { warn: (fields: object) => void lines.push(fields) };
  port = await openPublicPort({
    isAllowedHost: () => true,
    cors: { origins: [], links: false },
    listen: { host: ONE, port: 0 },
    ready: async () => true,
    metrics: undefined,
    starting: (_request, response) => response.end('served'),
    countConnection: boundConnections({ perSourceMax: MAX, trustedProxies }, { clock, log, metrics }),
  });
  const refused = async (): Promise<number> =>
    Number(/^reelgate_gateway_refused_connections_total (\d+)$/m.exec(await metrics.text())?.[1]);
  return { clock, lines, refused };
}

/** Opens a connection and asks for something: true if there was an answer, false if it was reset. */
function ask(localAddress: string): Promise<{ readonly socket: Socket; readonly isServed: boolean }> {
  const socket = connect({ port: port!.port, host: ONE, localAddress });
  sockets.push(socket);
  socket.write('GET / HTTP/1.1\r\nhost: a.example\r\n\r\n');
  return new Promise((resolve) => {
    socket.once('data', () => {
      resolve({ socket, isServed: true });
    });
    socket
      .once('error', () => undefined)
      .once('close', () => {
        resolve({ socket, isServed: false });
      });
  });
}

const askTimes = async (count: number, address: string): Promise<boolean[]> => {
  const served: boolean[] = [];
  for (let asked = 0; asked < count; asked += 1) served.push((await ask(address)).isServed);
  return served;
};

const closeAll = async (): Promise<void> => {
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve).end())));
  sockets = [];
};

test('a source address has no more connections than its limit, and another address is served', async () => {
  const { refused } = await opened();

  expect(await refused()).toBe(0);
  expect(await askTimes(MAX + 2, ONE)).toEqual([true, true, true, false, false]);
  expect(await askTimes(MAX, OTHER)).toEqual([true, true, true]);
  expect(await refused()).toBe(2);
});

test('a connection that closes makes room for another of its address', async () => {
  await opened();
  await askTimes(MAX, ONE);
  await closeAll();

  expect(await askTimes(MAX + 1, ONE)).toEqual([true, true, true, false]);
});

test('a trusted proxy is not counted: it stands for many clients', async () => {
  const { refused } = await opened(['127.0.0.2/32']);

  expect(await askTimes(2 * MAX, OTHER)).not.toContain(false);
  expect(await askTimes(MAX + 1, ONE)).toEqual([true, true, true, false]);
  expect(await refused()).toBe(1);
});

test('the log has one line a minute, with the address and the number since the last one', async () => {
  const { clock, lines } = await opened();
  await askTimes(MAX + 3, ONE);
  expect(lines).toEqual([{ address: ONE, refused: 1 }]);

  await clock.advance(60_000);
  await askTimes(1, ONE);

  expect(lines.slice(1)).toEqual([{ address: ONE, refused: 3 }]);
});
