import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { startFakeDns } from '../../testing/fake-dns.ts';
import { mediaConfigOf } from '../../testing/media-under-test.ts';
import { startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';
import { startRawOrigin } from '../../testing/raw-origin.ts';
import type { RawOrigin } from '../../testing/raw-origin.ts';
import { openIncoming } from '../blobs/incoming.ts';
import { policyFor } from './fetcher.ts';
import { FetchFault } from '../domain/fetch-fault.ts';
import { toHostKey } from './addresses/fetch-target.ts';
import { newFetcher } from './fetcher.ts';
import type { Fetcher, FetcherDeps } from './fetcher.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'media-fetcher-'));
const metrics = newMetrics(false);
const stopping = new AbortController();
let origins: Origin[];
let silent: RawOrigin;
/** Releases the answers that wait for the test. */
let held: (() => void)[] = [];

beforeAll(async () => {
  origins = await Promise.all([startOrigin(), startOrigin()]);
  silent = await startRawOrigin({ always: () => undefined });
});
afterAll(async () => {
  await Promise.all([...origins, silent].map((server) => server.close()));
  rmSync(folder, { recursive: true });
});

function fetcherOf(section: object, clock: Clock = systemClock, over: Partial<FetcherDeps> = {}): Fetcher {
  const config = mediaConfigOf({
    ...section,
    // on a busy machine, a held transfer would otherwise yield to another account
    fetch: {
      yield_after: '1h',
      ...(section as { fetch?: object }).fetch,
      allow: [...origins, silent].map(({ host }) => host),
    },
  });
  return newFetcher(
    {
      clock,
      metrics,
      log: silentLog,
      incoming: openIncoming(path.join(folder, String(Math.random())), newIds(systemClock)),
      // the origins stand for public ones, so that the refusals name their faults
      policies: {
        reference: { ...policyFor(config.fetch, 'inputs'), isException: () => false },
        result: policyFor(config.fetch, 'results'),
      },
      dnsServers: [],
      redirectsMax: config.fetch.redirectsMax,
      headerBytesMax: config.fetch.headerBytesMax,
      isOwn: () => false,
      stopping: stopping.signal,
      ...over,
    },
    config,
  );
}

const holding = (index: number): string =>
  origins[index]!.url((_request, response) => {
    held.push(() => {
      response.end('x');
    });
  });
const order = (url: string, accountId: string) => ({ url, accountId, family: 'image' as const, bytesMax: 100 });

const resultOf = (url: string, accountId = 'one') => ({ url, accountId });

/** Releases held answers until all fetches have ended, and returns the most fetches that ran at once. */
async function mostAtOnce(fetches: readonly Promise<{ discard(): Promise<void> }>[]): Promise<number> {
  let most = 0;
  let left = fetches.length;
  for (const fetch of fetches)
    void fetch
      .then((file) => file.discard())
      .finally(() => {
        left -= 1;
      });
  for (let quiet = 0; left > 0;) {
    const before = held.length;
    await new Promise((resolve) => setTimeout(resolve, 5));
    quiet = held.length === before ? quiet + 1 : 0;
    most = Math.max(most, held.length);
    if (quiet < 10) continue;
    for (const letGo of held) letGo();
    held = [];
    quiet = 0;
  }
  return most;
}

describe('concurrent fetches', () => {
  const many = (count: number, fetch: (index: number) => Promise<{ discard(): Promise<void> }>) =>
    Array.from({ length: count }, (_, index) => fetch(index));

  test('are four for an account, over all hosts', async () => {
    const fetcher = fetcherOf({});

    expect(await mostAtOnce(many(9, (index) => fetcher.fetchReference(order(holding(index % 2), 'one'))))).toBe(4);
  });

  test('are four for a host, over all accounts', async () => {
    const fetcher = fetcherOf({});

    expect(await mostAtOnce(many(9, (index) => fetcher.fetchReference(order(holding(0), `account ${index}`))))).toBe(4);
  });

  test('are limited over all', async () => {
    const fetcher = fetcherOf({ fetch: { in_flight: { total: 3, per_account: 9, per_host: 9 } } });

    expect(await mostAtOnce(many(8, (index) => fetcher.fetchReference(order(holding(index % 2), String(index)))))).toBe(
      3,
    );
  });

  test('of results wait until an earlier file is used, so files do not accumulate', async () => {
    const fetcher = fetcherOf({ results: { parallel: 1 } });
    const url = origins[0]!.url((_request, response) => {
      response.end('x');
    });
    const used = Promise.withResolvers<undefined>();
    const before = origins[0]!.hits.length;

    const first = fetcher.withResult(resultOf(url), async (file) => {
      await used.promise;
      await file.discard();
    });
    const others = Array.from({ length: 300 }, () => fetcher.withResult(resultOf(url), (file) => file.discard()));
    await until(() => origins[0]!.hits.length > before);
    await new Promise((resolve) => setImmediate(resolve));
    expect(origins[0]!.hits.length).toBe(before + 1);

    used.resolve(undefined);
    await Promise.all([first, ...others]);
    expect(origins[0]!.hits.length).toBe(before + 301);
  });

  test('of results have separate permits, and no limit by host', async () => {
    const fetcher = fetcherOf({
      results: { parallel: 6 },
      fetch: { in_flight: { total: 1, per_account: 1, per_host: 1 } },
    });

    expect(await mostAtOnce(many(9, () => fetcher.withResult(resultOf(holding(0)), async (file) => file)))).toBe(6);
  });
});

describe('a host has one key', () => {
  const spelled = [
    'http://127.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f.0.0.1:PORT/',
    'http://127.0.0.1.:PORT/',
  ];

  test('in every spelling of its address', async () => {
    const fetcher = fetcherOf({ fetch: { in_flight: { total: 99, per_account: 99, per_host: 2 } } });
    const path = new URL(holding(0)).pathname.slice(1);

    expect(
      await mostAtOnce(
        Array.from({ length: 10 }, (_, index) =>
          fetcher.fetchReference(
            order(
              `${spelled[index % spelled.length]!.replace('PORT', String(origins[0]!.port))}${path}`,
              String(index),
            ),
          ),
        ),
      ),
    ).toBe(2);
  });

  test.each([
    ['http://a.example/', 'https://A.example.:80/x'],
    ['http://a.example:443/', 'https://a.example'],
    ['http://8.8.8.8/', 'http://[::ffff:8.8.8.8]:443/'],
    ['http://[2600::1]/', 'https://[2600:0:0:0:0:0:0:1]/'],
  ])('shared by %s and %s', (one, other) => {
    expect(toHostKey(new URL(one))).toBe(toHostKey(new URL(other)));
  });

  test.each([
    ['http://a.example/', 'http://b.example/'],
    ['http://a.example/', 'http://x.a.example/'],
    ['http://8.8.8.8/', 'http://8.8.4.4/'],
  ])('that %s and %s do not share', (one, other) => {
    expect(toHostKey(new URL(one))).not.toBe(toHostKey(new URL(other)));
  });

  test('whatever host redirects to it', async () => {
    const dns = await startFakeDns();
    for (const name of ['a.example', 'b.example', 'c.example', 'd.example']) dns.answer(name, ['127.0.0.1']);
    const fetcher = fetcherOf({ fetch: { in_flight: { total: 3, per_account: 99, per_host: 1 } } }, systemClock, {
      dnsServers: [dns.address],
    });
    const victim = holding(0);
    const leading = origins[1]!.url((_request, response) => {
      response.writeHead(302, { location: victim }).end();
    });

    expect(
      await mostAtOnce(
        ['a', 'b', 'c', 'd'].map((name) =>
          fetcher.fetchReference(order(leading.replace('127.0.0.1', `${name}.example`), name)),
        ),
      ),
    ).toBe(1);
    await dns.close();
  });
});

describe('permits are released', () => {
  const ends = (fetch: Promise<void>): Promise<boolean> =>
    fetch.then(
      () => true,
      () => false,
    );
  const BAD: readonly (readonly [string, () => string])[] = [
    ['an address that is refused', () => 'http://10.0.0.1/'],
    ['a name that is refused', () => 'http://localhost/'],
    ['a text that is not an address', () => 'http://user@a.example/'],
    [
      'an error',
      () =>
        origins[0]!.url((_request, response) => {
          response.writeHead(500).end();
        }),
    ],
    [
      'a redirect into the private network',
      () =>
        origins[0]!.url((_request, response) => {
          response.writeHead(302, { location: 'http://10.0.0.1/' }).end();
        }),
    ],
    [
      'a circle',
      () =>
        origins[0]!.url((request, response) => {
          response.writeHead(302, { location: request.url }).end();
        }),
    ],
    [
      'too many bytes',
      () =>
        origins[0]!.url((_request, response) => {
          response.end('x'.repeat(101));
        }),
    ],
    [
      'another type',
      () =>
        origins[0]!.url((_request, response) => {
          response.writeHead(200, { 'content-type': 'text/html' }).end('x');
        }),
    ],
    [
      'an encoding',
      () =>
        origins[0]!.url((_request, response) => {
          response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
        }),
    ],
    [
      'a connection that breaks',
      () =>
        origins[0]!.url((_request, response) => {
          response.socket?.resetAndDestroy();
        }),
    ],
    [
      'a body that breaks',
      () =>
        origins[0]!.url((_request, response) => {
          response.writeHead(200, { 'content-length': '9' }).write('x', () => response.socket?.destroy());
        }),
    ],
    ['silence', () => origins[0]!.url(() => undefined)],
    [
      'a body that stops',
      () =>
        origins[0]!.url((_request, response) => {
          response.write('x');
        }),
    ],
    ['an unknown name', () => 'http://unknown.example/'],
  ];

  test.each(BAD)('after %s, and nothing remains of it', async (_what, bad) => {
    const dns = await startFakeDns();
    const files = path.join(folder, `freed-${Math.random()}`);
    const section = {
      results: { parallel: 1, max_bytes: '100' },
      fetch: { in_flight: { total: 1, per_account: 1, per_host: 1 }, timeouts: { headers: '150ms', idle: '150ms' } },
    };
    const fetcher = fetcherOf(section, systemClock, {
      dnsServers: [dns.address],
      incoming: openIncoming(files, newIds(systemClock)),
    });
    const good = origins[0]!.url((_request, response) => {
      response.end('x');
    });

    for (let index = 0; index < 3; index += 1) {
      await expect(fetcher.fetchReference(order(bad(), 'one'))).rejects.toBeInstanceOf(FetchFault);
      // the declared type of a result does not count
      await fetcher
        .withResult(resultOf(bad()), (file) => file.discard())
        .catch((error: unknown) => {
          expect(error).toBeInstanceOf(FetchFault);
        });
      expect(readdirSync(files)).toEqual([]);
    }
    // a busy machine may answer later than that, but a permit that was not released would be missing for ever
    await until(() => ends(fetcher.fetchReference(order(good, 'one')).then((file) => file.discard())));
    await until(() => ends(fetcher.withResult(resultOf(good), (file) => file.discard())));
    expect(readdirSync(files)).toEqual([]);
    await dns.close();
  });
});

describe('every configured limit takes effect:', () => {
  const endless = (piece: string, everyMs: number) =>
    origins[0]!.url((_request, response) => {
      response.write(piece);
      const timer = setInterval(() => {
        response.write(piece);
      }, everyMs);
      response.on('close', () => {
        clearInterval(timer);
      });
    });
  test.each<[object, () => string, string, RegExp]>([
    [
      { timeouts: { headers: '200ms' } },
      () => origins[0]!.url(() => undefined),
      'slow',
      /no answer came within 0\.2 s/,
    ],
    [
      { timeouts: { idle: '200ms' } },
      () =>
        origins[0]!.url((_request, response) => {
          response.write('x');
        }),
      'slow',
      /no more bytes came within 0\.2 s/,
    ],
    [
      { timeouts: { connect: '200ms' } },
      () => silent.url('').replace('http:', 'https:'),
      'slow',
      /no connection was opened within 0\.2 s/,
    ],
    [{ timeouts: { dns: '200ms' } }, () => 'http://silent.example/', 'slow', /its name was not found within 0\.2 s/],
    [{ timeouts: { image_total: '300ms' } }, () => endless('x', 10), 'slow', /it took longer than 0\.3 s/],
    [{ least_speed: '1KiB', speed_window: '300ms' }, () => endless('x', 10), 'slow', /too slowly/],
    [
      { header_bytes: '1KiB' },
      () =>
        origins[0]!.url((_request, response) => {
          response.writeHead(200, { x: 'x'.repeat(2000) }).end('x');
        }),
      'network',
      /cannot be reached/,
    ],
    [
      { url_characters: 60 },
      () => `http://127.0.0.1:${origins[0]!.port}/${'x'.repeat(60)}`,
      'url',
      /at most 60 characters/,
    ],
    [
      { url_characters: 60 },
      () =>
        origins[0]!.url((_request, response) => {
          response.writeHead(302, { location: `/${'x'.repeat(60)}` }).end();
        }),
      'redirects',
      /an invalid address/,
    ],
    [{ ports: [8080, 8443] }, () => 'http://8.8.8.8/', 'url', /^must have an address on another port$/],
    [{ ports: [8080, 443] }, () => 'http://8.8.8.8/', 'url', /^must have an address on port 443$/],
    [{}, () => 'http://8.8.8.8:81/', 'url', /^must have an address on port 80 or 443$/],
    [
      { max_redirects: 0 },
      () =>
        origins[0]!.url((_request, response) => {
          response.writeHead(302, { location: '/' }).end();
        }),
      'redirects',
      /more than 0 times/,
    ],
  ])('%j', async (fetch, url, code, said) => {
    const dns = await startFakeDns();
    dns.answer('silent.example', 'silence');
    const fetcher = fetcherOf({ fetch }, systemClock, { dnsServers: [dns.address] });

    await expect(fetcher.fetchReference({ ...order(url(), 'one'), bytesMax: 1e6 })).rejects.toMatchObject({
      code,
      said: expect.stringMatching(said),
    });
    await dns.close();
  });
});

test('a transfer that waits too long for a permit is refused as busy, and no permit is lost', async () => {
  const clock = fakeClock();
  const fetcher = fetcherOf(
    { fetch: { in_flight: { per_account: 1 }, timeouts: { queue: '1s', headers: '1h', image_total: '1h' } } },
    clock,
  );
  const first = fetcher.fetchReference(order(holding(0), 'one'));
  const second = fetcher.fetchReference(order(holding(0), 'one'));
  void second.catch(() => undefined);
  for (let tries = 0; tries < 400 && held.length === 0; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 5));

  await clock.advance(1000);

  await expect(second).rejects.toMatchObject({ code: 'busy' });
  expect(await mostAtOnce([first])).toBe(1);
  expect(await mostAtOnce([fetcher.fetchReference(order(holding(0), 'one'))])).toBe(1);
});

test('every fetch is counted by its outcome', async () => {
  const fetcher = fetcherOf({});
  await fetcher.fetchReference(
    order(
      origins[0]!.url((_request, response) => {
        response.end('x');
      }),
      'one',
    ),
  );
  await expect(fetcher.withResult(resultOf('http://10.0.0.1/'), async (file) => file)).rejects.toMatchObject({
    code: 'address',
  });

  expect(await metrics.text()).toMatch(/reelgate_media_fetches_total\{what="reference",outcome="ok"\} \d+/);
  expect(await metrics.text()).toMatch(/reelgate_media_fetches_total\{what="result",outcome="address"\} 1/);
});

test('a stopped service accepts no fetch', async () => {
  const fetcher = fetcherOf({});
  stopping.abort();

  await expect(fetcher.fetchReference(order(holding(0), 'one'))).rejects.toMatchObject({ code: 'busy' });
});
