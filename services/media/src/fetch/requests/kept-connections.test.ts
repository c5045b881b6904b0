import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import { redirects, serves } from '../../../testing/origin.ts';
import type { Behaviour } from '../../../testing/origin.ts';
import { answer, startRawOrigin } from '../../../testing/raw-origin.ts';
import type { RawOrigin } from '../../../testing/raw-origin.ts';
import { openIncoming } from '../../blobs/incoming.ts';
import { addressPolicy } from '../addresses/address-policy.ts';
import { IDLE_MS, newKeptConnections } from './kept-connections.ts';
import type { KeptConnections } from './kept-connections.ts';

const BYTES = Buffer.from('the very bytes');
const RIGHT = answer(['200 OK', 'content-length: 3'], 'abc');
const world = await fetchWorldOfTests();
const { origin, secure, dns } = world;
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-kept-'));
const incoming = openIncoming(folder, newIds(systemClock));
let [clock, stopping] = [fakeClock(), new AbortController()];
let kept: KeptConnections;
/** The connections that brought a request, in order. */
let used: Socket[];

beforeEach(() => {
  [clock, stopping, used] = [fakeClock(), new AbortController(), []];
  kept = newKeptConnections(clock, stopping.signal);
});
afterEach(() => {
  stopping.abort();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const noting =
  (behaviour: Behaviour): Behaviour =>
  (request, response) => {
    if (!used.includes(request.socket)) used.push(request.socket);
    behaviour(request, response);
  };
const good = noting(serves(BYTES));
const fetchKept = (url: string, over: Parameters<typeof world.fetchOf>[1] = {}) =>
  world.fetchOf(url, { kept, clock, incoming, ...over });
const named = (url: string, name: string): string => url.replace('127.0.0.1', name);

describe.each(['http', 'https'])('fetches over %s', (protocol) => {
  const from = (): typeof origin => (protocol === 'http' ? origin : secure);

  test('from one origin use one connection, one after another', async () => {
    for (let time = 0; time < 3; time += 1) expect(await fetchKept(from().url(good))).toEqual({ bytes: BYTES });

    expect(used).toHaveLength(1);
  });

  test('at the same moment use connections of their own', async () => {
    await Promise.all(Array.from({ length: 3 }, () => fetchKept(from().url(good))));

    expect(used).toHaveLength(3);
  });

  test('by another name use another connection, although the address is the same', async () => {
    dns.answer('media.example', ['127.0.0.1']);
    await fetchKept(from().url(good));
    await fetchKept(named(from().url(good), 'media.example'));

    expect(used).toHaveLength(2);
  });

  test('that share nothing close their connection', async () => {
    await world.fetchOf(from().url(good));
    await world.fetchOf(from().url(good));

    expect(used).toHaveLength(2);
  });
});

describe('a kept connection', () => {
  test('leads to the address that was judged, and a new one to the address that is judged anew', async () => {
    dns.answer('rebind.example', ['127.0.0.1'], ['10.0.0.1']);
    const url = named(origin.url(good), 'rebind.example');

    expect([await fetchKept(url), await fetchKept(url)]).toEqual([{ bytes: BYTES }, { bytes: BYTES }]);
    expect(used).toHaveLength(1);
    await clock.advance(IDLE_MS);
    expect(await fetchKept(url)).toMatchObject({ fault: { code: 'address' } });
  });

  test('ends after its idle time', async () => {
    await fetchKept(origin.url(good));
    await clock.advance(IDLE_MS - 1);
    await fetchKept(origin.url(good));
    await clock.advance(IDLE_MS - 1);
    expect(used.map(({ destroyed }) => destroyed)).toEqual([false]);

    await clock.advance(1);
    await until(() => used[0]!.destroyed);
    await fetchKept(origin.url(good));
    expect(used).toHaveLength(2);
  });

  test('ends after a minute, however often it is used', async () => {
    for (let passed = 0; passed <= 60_000; passed += IDLE_MS - 1000) {
      await fetchKept(origin.url(good));
      await clock.advance(IDLE_MS - 1000);
    }
    expect(used).toHaveLength(1);

    await fetchKept(origin.url(good));
    expect(used).toHaveLength(2);
  });

  test('is one of 64 to an origin', async () => {
    let release = (): void => undefined;
    const all = new Promise<void>((resolve) => (release = resolve));
    const held = noting((request, response) => {
      if (used.length === 68) release();
      void all.then(() => {
        serves(BYTES)(request, response);
      });
    });
    await Promise.all(Array.from({ length: 68 }, () => fetchKept(origin.url(held))));

    await until(() => used.filter(({ destroyed }) => destroyed).length === 4);
  });

  test('ends when the service stops, and none is kept after that', async () => {
    await fetchKept(origin.url(good));
    stopping.abort();
    await fetchKept(origin.url(good));

    await until(() => used.every(({ destroyed }) => destroyed));
    expect(used).toHaveLength(2);
  });

  test('is refused by the guard of each redirect, as a new one is', async () => {
    await fetchKept(origin.url(good));

    const target = `http://127.0.0.1:${world.forbidden.port}/`;
    expect(await fetchKept(origin.url(noting(redirects(target))))).toMatchObject({ fault: { code: 'address' } });
    expect(world.forbidden.hits).toEqual([]);
  });
});

describe('a connection is not kept', () => {
  test.each<[string, Behaviour]>([
    ['a refused answer', (_request, response) => response.writeHead(404).end('no')],
    ['an answer that is too long', serves(Buffer.alloc(5000))],
    [
      'a length that does not come',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '9' }).write('x');
        response.socket?.end();
      },
    ],
    ['an answer that ends the connection', serves(BYTES, { connection: 'close' })],
  ])('after %s', async (_what, behaviour) => {
    await fetchKept(origin.url(noting(behaviour)));
    await fetchKept(origin.url(good));

    expect(used).toHaveLength(2);
  });
});

describe('an origin', () => {
  const servers: RawOrigin[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });
  /** A server that answers each request of a connection by its number. */
  async function answering(answers: (at: number, socket: Socket) => void): Promise<RawOrigin> {
    const server = await startRawOrigin({
      always: (socket) => {
        let at = 0;
        answers(at, socket);
        socket.on('data', () => {
          at += 1;
          answers(at, socket);
        });
      },
    });
    servers.push(server);
    return server;
  }
  const allowing = ({ port }: RawOrigin) => ({
    policy: addressPolicy({ allow: [{ host: '127.0.0.1', port }], ports: [] }),
  });

  test('that closes a kept connection at the next request is called again, through a new one', async () => {
    const server = await answering((at, socket) => {
      if (at === 0) socket.write(RIGHT);
      else socket.destroy();
    });
    const fetched = [];
    for (let time = 0; time < 3; time += 1) fetched.push(await fetchKept(server.url(RIGHT), allowing(server)));

    expect(fetched).toEqual(Array.from({ length: 3 }, () => ({ bytes: Buffer.from('abc') })));
    expect(server.connections()).toBe(3);
  });

  test('that closes every connection at the request is called twice at most', async () => {
    let closes = false;
    const server = await answering((_at, socket) => {
      if (closes) socket.destroy();
      else socket.write(RIGHT);
    });
    await fetchKept(server.url(RIGHT), allowing(server));
    closes = true;

    expect(await fetchKept(server.url(RIGHT), allowing(server))).toMatchObject({ fault: { code: 'network' } });
    expect(server.connections()).toBe(2);
  });

  test('cannot send the next answer in advance', async () => {
    const server = await answering((_at, socket) => {
      socket.write(RIGHT + answer(['200 OK', 'content-length: 4'], 'evil'));
    });
    await fetchKept(server.url(RIGHT), allowing(server));

    expect(await fetchKept(server.url(RIGHT), allowing(server))).toEqual({ bytes: Buffer.from('abc') });
    expect(server.connections()).toBe(2);
  });

  test('that sends many bytes through one connection is measured in each fetch alone', async () => {
    const large = noting(serves(Buffer.alloc(900_000)));
    for (let time = 0; time < 5; time += 1) {
      const outcome = await fetchKept(origin.url(large), { bytesMax: 1_000_000 });
      expect('bytes' in outcome && outcome.bytes.length).toBe(900_000);
    }

    expect(used).toHaveLength(1);
  });
});
