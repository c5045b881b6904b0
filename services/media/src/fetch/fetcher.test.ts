import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { openMetrics } from '@reelgate/platform/metrics';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '../../../../test/harness/until.ts';
import { mediaConfigOf } from '../../testing/media-under-test.ts';
import { startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';
import { openIncoming } from '../blobs/incoming.ts';
import { addressPolicy } from './address-policy.ts';
import { openFetcher } from './fetcher.ts';
import type { Fetcher } from './fetcher.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'media-fetcher-'));
const metrics = openMetrics(false);
const stopping = new AbortController();
let origins: Origin[];
/** Answers that are held back until the test lets them go. */
let held: (() => void)[] = [];

beforeAll(async () => {
  origins = await Promise.all([startOrigin(), startOrigin()]);
});
afterAll(async () => {
  await Promise.all(origins.map((origin) => origin.close()));
  rmSync(folder, { recursive: true });
});

function fetcherOf(section: object, clock: Clock = systemClock): Fetcher {
  const config = mediaConfigOf({ ...section, fetch: { ...(section as { fetch?: object }).fetch, allow: origins.map(({ host }) => host) } });
  return openFetcher({
    clock, metrics, log: silentLog, incoming: openIncoming(path.join(folder, String(Math.random())), newIds(systemClock)), policy: addressPolicy(config.fetch), dnsServers: [], redirectsMax: 3, headerBytesMax: 16 * 1024,
    isOwn: () => false, stopping: stopping.signal,
  }, config);
}

const holding = (index: number): string => origins[index]!.url((_request, response) => { held.push(() => { response.end('x'); }); });
const order = (url: string, accountId: string) => ({ url, accountId, family: 'image' as const, bytesMax: 100 });

/** Lets go of what is held until all has ended; gives how many were under way at once at the most. */
async function mostAtOnce(fetches: readonly Promise<{ discard(): Promise<void> }>[]): Promise<number> {
  let most = 0;
  let left = fetches.length;
  for (const fetch of fetches) void fetch.then((file) => file.discard()).finally(() => { left -= 1; });
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

describe('fetches at once', () => {
  const many = (count: number, fetch: (turn: number) => Promise<{ discard(): Promise<void> }>) => Array.from({ length: count }, (_, turn) => fetch(turn));

  test('are four for an account, whatever the hosts', async () => {
    const fetcher = fetcherOf({});

    expect(await mostAtOnce(many(9, (turn) => fetcher.fetchReference(order(holding(turn % 2), 'one'))))).toBe(4);
  });

  test('are four for a host, whatever the accounts', async () => {
    const fetcher = fetcherOf({});

    expect(await mostAtOnce(many(9, (turn) => fetcher.fetchReference(order(holding(0), `account ${String(turn)}`))))).toBe(4);
  });

  test('are so many over all', async () => {
    const fetcher = fetcherOf({ fetch: { in_flight: { total: 3, per_account: 9, per_host: 9 } } });

    expect(await mostAtOnce(many(8, (turn) => fetcher.fetchReference(order(holding(turn % 2), String(turn)))))).toBe(3);
  });

  test('of results leave no more files behind than are dealt with: the next is fetched when one was used', async () => {
    const fetcher = fetcherOf({ results: { parallel: 1 } });
    const url = origins[0]!.url((_request, response) => { response.end('x'); });
    const used = Promise.withResolvers<undefined>();
    const before = origins[0]!.hits.length;

    const first = fetcher.withResult(url, undefined, async (file) => {
      await used.promise;
      await file.discard();
    });
    const others = Array.from({ length: 300 }, () => fetcher.withResult(url, undefined, (file) => file.discard()));
    await until(() => origins[0]!.hits.length > before);
    await new Promise((resolve) => setImmediate(resolve));
    expect(origins[0]!.hits.length).toBe(before + 1);

    used.resolve(undefined);
    await Promise.all([first, ...others]);
    expect(origins[0]!.hits.length).toBe(before + 301);
  });

  test('of results have places of their own, and none by host', async () => {
    const fetcher = fetcherOf({ results: { parallel: 6 }, fetch: { in_flight: { total: 1, per_account: 1, per_host: 1 } } });

    expect(await mostAtOnce(many(9, () => fetcher.withResult(holding(0), undefined, async (file) => file)))).toBe(6);
  });
});

test('whoever waits too long for a place is told so, and the places are not lost', async () => {
  const clock = fakeClock();
  const fetcher = fetcherOf({ fetch: { in_flight: { per_account: 1 }, timeouts: { queue: '1s', headers: '1h', image_total: '1h' } } }, clock);
  const first = fetcher.fetchReference(order(holding(0), 'one'));
  const second = fetcher.fetchReference(order(holding(0), 'one'));
  void second.catch(() => undefined);
  for (let tries = 0; tries < 400 && held.length === 0; tries += 1) await new Promise((resolve) => setTimeout(resolve, 5));

  await clock.advance(1000);

  await expect(second).rejects.toMatchObject({ code: 'busy' });
  expect(await mostAtOnce([first])).toBe(1);
  expect(await mostAtOnce([fetcher.fetchReference(order(holding(0), 'one'))])).toBe(1);
});

test('every fetch is counted by how it ended', async () => {
  const fetcher = fetcherOf({});
  await fetcher.fetchReference(order(origins[0]!.url((_request, response) => { response.end('x'); }), 'one'));
  await expect(fetcher.withResult('http://10.0.0.1/', undefined, async (file) => file)).rejects.toMatchObject({ code: 'address' });

  expect(await metrics.text()).toMatch(/media_fetches_total\{what="reference",outcome="ok"\} \d+/);
  expect(await metrics.text()).toMatch(/media_fetches_total\{what="result",outcome="address"\} 1/);
});

test('a service that stops takes no more', async () => {
  const fetcher = fetcherOf({});
  stopping.abort();

  await expect(fetcher.fetchReference(order(holding(0), 'one'))).rejects.toMatchObject({ code: 'busy' });
});
