import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { inTime } from '@reelgate/platform/testing/bounded-waits';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { startFakeDns } from '../../testing/fake-dns.ts';
import type { FakeDns } from '../../testing/fake-dns.ts';
import { mediaConfigOf } from '../../testing/media-under-test.ts';
import { fixture, redirects, serves, startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';
import { answer, startRawOrigin } from '../../testing/raw-origin.ts';
import { openIncoming } from '../blobs/incoming.ts';
import { policyFor } from './fetcher.ts';
import { newFetcher } from './fetcher.ts';
import type { Fetcher } from './fetcher.ts';

const LEAST_BYTES = 16 * 1024;
const YIELD_MS = 2000;
const TICK_MS = 100;
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `${letter}.example`);
const PNG = fixture('small.png');
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-fair-'));

let origins: Origin[];
let dns: FakeDns;
let clock: FakeClock;
/** Responses whose bodies arrive at the least speed. */
let trickling: Set<ServerResponse>;
let stopping: AbortController;
let outcomes: Promise<string>[];

beforeAll(async () => {
  dns = await startFakeDns();
  origins = await Promise.all(['127.0.0.2', '127.0.0.3'].map((address) => startOrigin({ address })));
  for (const name of NAMES) dns.answer(name, ['127.0.0.2']);
  dns.answer('both.example', ['127.0.0.2', '127.0.0.3']);
});
afterAll(async () => {
  await Promise.all([dns, ...origins].map((server) => server.close()));
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  [clock, trickling, stopping, outcomes] = [fakeClock(), new Set(), new AbortController(), []];
});
afterEach(async () => {
  stopping.abort();
  await inTime(Promise.all(outcomes));
  expect(readdirSync(folder)).toEqual([]);
});

interface Section {
  readonly in_flight?: object;
  readonly results?: object;
  readonly allowed?: readonly string[];
}

function fetcherOf({ results = {}, allowed = [], ...fetch }: Section = {}): Fetcher {
  const allow = [...origins.map(({ host }) => host), ...allowed];
  const config = mediaConfigOf({ results, fetch: { allow, ...fetch } });
  return newFetcher(
    {
      clock,
      stopping: stopping.signal,
      metrics: newMetrics(false),
      log: silentLog,
      incoming: openIncoming(folder, newIds(clock)),
      isOwn: () => false,
      policies: { reference: policyFor(config.fetch, 'inputs'), result: policyFor(config.fetch, 'results') },
      dnsServers: [dns.address],
      redirectsMax: 3,
      headerBytesMax: 16 * 1024,
    },
    config,
  );
}

const trickle = (origin: Origin): string =>
  origin.url((_request, response) => {
    trickling.add(response.on('close', () => trickling.delete(response)));
    response.write(Buffer.alloc(LEAST_BYTES));
  });
const named = (url: string, name: string): string => url.replace(/127\.0\.0\.\d/, name);
const account = (number: number): string => `account ${number}`;

const codeOf = (error: unknown): string => (error as { readonly code: string }).code;

function reference(fetcher: Fetcher, url: string, accountId: string): Promise<string> {
  const outcome = fetcher
    .fetchReference({ url, accountId, family: 'video', bytesMax: 50 * 1024 ** 2 })
    .then(async (file) => {
      await file.discard();
      return `${file.bytes} bytes`;
    })
    .catch(codeOf);
  outcomes.push(outcome);
  return outcome;
}

function result(fetcher: Fetcher, url: string, accountId: string): Promise<string> {
  const outcome = fetcher
    .withResult({ url, accountId }, async (file) => {
      await file.discard();
      return `${file.bytes} bytes`;
    })
    .catch(codeOf);
  outcomes.push(outcome);
  return outcome;
}

/** Lets every trickling body run for `seconds` at the least speed. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await Promise.all(
      [...trickling].map(
        (response) =>
          new Promise<void>((resolve) => {
            response.write(Buffer.alloc(LEAST_BYTES), () => {
              resolve();
            });
          }),
      ),
    );
    for (let tick = 0; tick < 1000 / TICK_MS; tick += 1) await clock.advance(TICK_MS);
  }
}

/** Starts trickling fetches until they hold all permits. */
async function attack(fetcher: Fetcher, accounts: number, fetches: number): Promise<{ attacks: Promise<string>[] }> {
  const urls = Array.from({ length: fetches }, () => trickle(origins[0]!));
  const attacks = urls.map((url, index) => reference(fetcher, url, account(index % accounts)));
  await until(() => trickling.size === 16);
  return { attacks };
}

/** The outcome if the fetch has ended; it does not wait. */
const soFar = (promise: Promise<string>): Promise<string> => Promise.race([promise, Promise.resolve('running')]);

const OF_A_PNG = `${PNG.byteLength} bytes`;
const healthy = (origin: Origin): string => origin.url(serves(PNG));

describe('while accounts trickle on all permits, another account gets its picture within `yield_after`', () => {
  test.each([
    [4, 4],
    [8, 2],
    [16, 1],
    [40, 4],
  ])('if %i accounts have %i fetches each', async (accounts, each) => {
    const fetcher = fetcherOf({ in_flight: { per_host: 999 } });
    await attack(fetcher, accounts, accounts * each);
    await pass(10);

    const honest = reference(fetcher, healthy(origins[1]!), 'honest');
    await pass(YIELD_MS / 1000);

    expect(await inTime(honest)).toBe(OF_A_PNG);
  });

  test('if they fetch from the same host under another name', async () => {
    const fetcher = fetcherOf();
    for (const name of NAMES.slice(0, 4)) void reference(fetcher, named(trickle(origins[0]!), name), account(1));
    await until(() => trickling.size === 4);
    await pass(10);

    const honest = reference(fetcher, named(healthy(origins[0]!), NAMES[4]!), 'honest');
    await pass(YIELD_MS / 1000);

    expect(await inTime(honest)).toBe(OF_A_PNG);
  });

  test('for each picture of one order', async () => {
    const fetcher = fetcherOf({ in_flight: { per_host: 999 } });
    await attack(fetcher, 4, 16);
    await pass(10);

    const order = Array.from({ length: 9 }, () => reference(fetcher, healthy(origins[1]!), 'honest'));
    await pass(YIELD_MS / 1000);

    expect(new Set(await inTime(Promise.all(order)))).toEqual(new Set([OF_A_PNG]));
  });
});

test('a transfer that yields can be tried again, and one transfer yields for each waiting one', async () => {
  const fetcher = fetcherOf({ in_flight: { per_host: 999 } });
  const { attacks } = await attack(fetcher, 4, 16);
  await pass(3);
  expect(await inTime(reference(fetcher, healthy(origins[1]!), 'honest'))).toBe(OF_A_PNG);
  expect(await inTime(Promise.race(attacks))).toBe('busy');
  expect(trickling.size).toBe(15);

  stopping.abort();

  await until(() => trickling.size === 0);
  expect(new Set(await Promise.all(attacks))).toEqual(new Set(['busy']));
});

test('no transfer yields to its own account, even if that account uses all permits', async () => {
  const fetcher = fetcherOf({ in_flight: { per_host: 999 } });
  await attack(fetcher, 4, 16);
  const more = reference(fetcher, healthy(origins[1]!), account(1));
  await pass(20);

  expect([trickling.size, await soFar(more)]).toEqual([16, 'running']);
});

describe('permits by host count addresses:', () => {
  const atOnce = async (urls: readonly string[], expected: number): Promise<void> => {
    const fetcher = fetcherOf();
    for (const [index, url] of urls.entries()) void reference(fetcher, url, account(index));
    await until(() => trickling.size >= expected);
    await clock.advance(1500);
    expect(trickling.size).toBe(expected);
  };

  test('many names of one address share its permits', async () => {
    await atOnce(
      [...NAMES, ...NAMES].map((name) => named(trickle(origins[0]!), name)),
      4,
    );
  });

  test('an address shares them with its names', async () => {
    await atOnce(
      NAMES.flatMap((name) => [named(trickle(origins[0]!), name), trickle(origins[0]!)]),
      4,
    );
  });

  test('every redirect to an address counts', async () => {
    await atOnce(
      NAMES.map((name) => origins[1]!.url(redirects(named(trickle(origins[0]!), name)))),
      4,
    );
  });

  test('a name whose first address has no free permit is dialled at its next address', async () => {
    const always = answer(['200 OK', 'content-length: 3'], 'abc');
    const second = await startRawOrigin({ address: '127.0.0.3', port: origins[0]!.port, always });
    const fetcher = fetcherOf({ allowed: [second.host] });
    for (let index = 0; index < 4; index += 1) void reference(fetcher, trickle(origins[0]!), account(index));
    await until(() => trickling.size === 4);

    expect(await inTime(reference(fetcher, named(healthy(origins[0]!), 'both.example'), 'another'))).toBe('3 bytes');
    await second.close();
  });
});

test('accounts share result permits: sixteen trickling results of one account leave room for another', async () => {
  const fetcher = fetcherOf({ results: { parallel: 4 } });
  const greedy = Array.from({ length: 16 }, () => result(fetcher, trickle(origins[0]!), 'greedy'));
  await until(() => trickling.size === 4);
  await pass(10);

  const others = ['one', 'two', 'three'].map((name) => result(fetcher, healthy(origins[1]!), name));
  await pass(YIELD_MS / 1000);
  expect(await inTime(Promise.all(others))).toEqual([OF_A_PNG, OF_A_PNG, OF_A_PNG]);

  // a caller fetches a yielded result again later; the waiting fetches reuse the permits of the others
  expect(new Set(await Promise.all(greedy.map(soFar)))).toEqual(new Set(['busy', 'running']));
  expect(trickling.size).toBe(4);
});
