import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { silentLog } from '@reelgate/platform/log';
import { openRedisLink } from '@reelgate/platform/limits/redis-link';
import type { RedisLink } from '@reelgate/platform/limits/redis-link';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { redisServer } from '../../../../test/servers/redis-server.ts';
import { WINDOW_MS } from '../domain/sliding-window.ts';
import type { RateCounters } from './rate-counters.ts';
import { localRateCounters } from './local-rate-counters.ts';
import { redisRateCounters } from './redis-rate-counters.ts';

/** The start of a window. */
const START = Math.ceil(Date.UTC(2026, 0, 1) / WINDOW_MS) * WINDOW_MS;

/** What every implementation of the port does. */
function countersSuite(open: (clock: FakeClock) => Promise<RateCounters>): void {
  let clock: FakeClock;
  let counters: RateCounters;
  let key = 0;
  const fresh = (): string => `key-${(key += 1)}`;
  const takeAll = async (name: string, times: number, limit: number): Promise<boolean[]> => {
    const allowed: boolean[] = [];
    for (let time = 0; time < times; time += 1) allowed.push((await counters.take(name, limit)).allowed);
    return allowed;
  };

  beforeAll(async () => {
    clock = fakeClock(START);
    counters = await open(clock);
  });
  afterAll(async () => {
    await counters.close();
  });

  test('exactly as many requests as the limit fit', async () => {
    expect(await takeAll(fresh(), 4, 3)).toEqual([true, true, true, false]);
  });

  test('a verdict tells how many are left', async () => {
    const name = fresh();

    expect(await counters.take(name, 2)).toMatchObject({ allowed: true, limit: 2, remaining: 1, retryAfterMs: 0 });
    expect(await counters.take(name, 2)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await counters.take(name, 2)).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('one key does not count against another', async () => {
    const name = fresh();
    await takeAll(name, 3, 3);

    expect((await counters.take(fresh(), 3)).allowed).toBe(true);
  });

  test('concurrent callers together get no more than the limit', async () => {
    const name = fresh();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => Promise.resolve(counters.take(name, 5))));

    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(5);
  });

  test('refused requests are not counted, and one more fits after the named time', async () => {
    const name = fresh();
    await takeAll(name, 30, 3);
    const { retryAfterMs } = await counters.take(name, 3);

    await clock.advance(retryAfterMs);

    expect(await takeAll(name, 2, 3)).toEqual([true, false]);
  });

  test('a request counts for each maker of its token, or for none of them', async () => {
    const [child, sibling, maker] = [fresh(), fresh(), fresh()];
    const line = [{ key: maker, limit: 2 }];
    await counters.take(child, 5, line);
    await counters.take(sibling, 5, line);

    const refused = await counters.take(child, 5, line);
    expect(refused).toMatchObject({ allowed: false, isOfMaker: true, limit: 2, remaining: 0 });
    expect(refused.retryAfterMs).toBeGreaterThan(0);
    expect(await counters.take(maker, 2)).toMatchObject({ allowed: false, isOfMaker: false });
    expect(await counters.take(child, 2, [{ key: maker, limit: 9 }])).toMatchObject({ allowed: true, remaining: 0 });
  });

  test("a token's own limit is named where both are reached", async () => {
    const [child, maker] = [fresh(), fresh()];
    await counters.take(child, 1, [{ key: maker, limit: 1 }]);

    expect(await counters.take(child, 1, [{ key: maker, limit: 1 }])).toMatchObject({
      allowed: false,
      isOfMaker: false,
    });
  });

  test('no tree of tokens takes more than the limit of any of its makers', async () => {
    const someTree = fc.record({
      // the maker of each token is one before it, or none
      makers: fc.array(fc.nat(), { minLength: 1, maxLength: 12 }),
      limits: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 12, maxLength: 12 }),
      takes: fc.array(fc.nat(), { maxLength: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(someTree, async ({ makers, limits, takes }) => {
        const tree = fresh();
        const lineOf = (at: number): number[] => (at === 0 ? [0] : [at, ...lineOf((makers[at] ?? 0) % at)]);
        const boundOf = (at: number) => ({ key: `${tree}-${at}`, limit: limits[at] ?? 1 });
        const taken = new Map<number, number>();
        const verdicts = await Promise.all(
          takes.map(async (take) => {
            const line = lineOf(take % makers.length);
            const [own, ...others] = line.map(boundOf);
            return { line, ...(await counters.take(own!.key, own!.limit, others)) };
          }),
        );
        for (const { line, allowed } of verdicts)
          if (allowed) for (const at of line) taken.set(at, (taken.get(at) ?? 0) + 1);
        for (const [at, count] of taken) expect(count).toBeLessThanOrEqual(limits[at] ?? 1);
        // nothing is refused while each maker of its line has room
        for (const { line, allowed } of verdicts)
          if (!allowed) expect(line.some((at) => taken.get(at) === limits[at])).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test('two windows later a count has expired', async () => {
    const name = fresh();
    await takeAll(name, 3, 3);

    await clock.advance(2 * WINDOW_MS);

    expect(await takeAll(name, 4, 3)).toEqual([true, true, true, false]);
  });
}

describe('in this process', () => {
  countersSuite(async (clock) => localRateCounters(clock));
});

describeWith(redisServer, 'counters', (url) => {
  const links: RedisLink[] = [];
  const open = async (clock: FakeClock): Promise<RateCounters> => {
    const redis = await openRedisLink({ url: new Secret(url()), log: silentLog });
    links.push(redis);
    return redisRateCounters({ redis, clock, fallback: localRateCounters(clock) });
  };
  afterAll(async () => {
    for (const link of links) await link.close();
  });

  countersSuite((clock) => open(clock));

  test('replicas share the counts of a maker', async () => {
    const clock = fakeClock(START);
    const replicas = [await open(clock), await open(clock)];
    const verdicts = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        Promise.resolve(replicas[at % 2]!.take(`child-${at % 6}`, 5, [{ key: 'shared-maker', limit: 5 }])),
      ),
    );

    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(5);
  });

  test('replicas share a count', async () => {
    const clock = fakeClock(START);
    const [one, other] = [await open(clock), await open(clock)];
    await one.take('shared', 2);
    await other.take('shared', 2);

    expect((await one.take('shared', 2)).allowed).toBe(false);
  });
});

test('while Redis is unreachable each replica counts on its own', async () => {
  const clock = fakeClock(START);
  const redis = await openRedisLink({ url: new Secret('redis://127.0.0.1:1'), log: silentLog });
  const counters = redisRateCounters({ redis, clock, fallback: localRateCounters(clock) });

  expect((await counters.take('a', 1)).allowed).toBe(true);
  expect((await counters.take('a', 1)).allowed).toBe(false);
  await redis.close();
});
