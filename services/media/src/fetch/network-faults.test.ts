import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { fetchWorldOfTests } from '../../testing/fetch-world.ts';
import { addressPolicy } from './addresses/address-policy.ts';

const world = await fetchWorldOfTests();

/** The address of a port at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A log line of a fault has its message. */
test.each<[string, string, () => Promise<string>]>([
  [
    'resets the connection',
    'UND_ERR_SOCKET',
    async () =>
      world.raw.url((socket) => {
        socket.destroy();
      }),
  ],
  ['refuses the connection', 'ECONNREFUSED', async () => `http://127.0.0.1:${await closedPort()}/a.mp4`],
  ['has no address', 'ENOTFOUND', async () => 'http://nowhere.example:8080/a.mp4'],
])('the fault of a host that %s names no address, but what happened: %s', async (_what, code, urlOf) => {
  const url = new URL(await urlOf());
  const policy = addressPolicy({ allow: [{ host: url.hostname, port: Number(url.port) }], ports: [] });

  const fault = await world.faultOf(url.href, { policy });

  expect(fault).toMatchObject({ code: 'network', message: code });
  expect([fault.cause, fault.stack?.includes(url.hostname)]).toEqual([undefined, false]);
});
