import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openRedisLink } from '@reelgate/platform/limits/redis-link';
import type { RedisLink } from '@reelgate/platform/limits/redis-link';
import { silentLog } from '@reelgate/platform/log';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { SEQUENCES_TIMEOUT_MS, checkSequences, drawSequence, newStory } from '@reelgate/platform/testing/sequences';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { redisServer } from '../../../../test/servers/redis-server.ts';
import { WINDOW_MS } from '../domain/sliding-window.ts';
import { localRateCounters } from './local-rate-counters.ts';
import type { RateBound } from './rate-counters.ts';
import { redisRateCounters } from './redis-rate-counters.ts';

const START = Math.ceil(Date.UTC(2026, 0, 1) / WINDOW_MS) * WINDOW_MS;
const STEPS_MAX = 60;
/** The makers of each token, its own maker first. */
const MAKERS = { root: [], child: ['root'], sibling: ['root'], grandchild: ['child', 'root'], stranger: [] } as const;
type Token = keyof typeof MAKERS;

/** Counts every request of a key, and says what fits into a minute of which the last window is a part. */
interface CounterModel {
  fits(bounds: readonly RateBound[], at: number): boolean;
  take(bounds: readonly RateBound[], at: number): void;
}

function newCounterModel(): CounterModel {
  const taken: { readonly key: string; readonly at: number }[] = [];
  const countWindow = (key: string, index: number): number =>
    taken.filter((one) => one.key === key && Math.floor(one.at / WINDOW_MS) === index).length;
  return {
    fits: (bounds, at) =>
      bounds.every(({ key, limit }) => {
        const index = Math.floor(at / WINDOW_MS);
        const leftMs = (index + 1) * WINDOW_MS - at;
        // in requests times milliseconds, so that all numbers are whole
        return (countWindow(key, index) + 1) * WINDOW_MS + countWindow(key, index - 1) * leftMs <= limit * WINDOW_MS;
      }),
    take: (bounds, at) => {
      for (const { key } of bounds) taken.push({ key, at });
    },
  };
}

const drawTake = fc.record({
  token: fc.constantFrom<Token>('root', 'child', 'sibling', 'grandchild', 'stranger'),
  limits: fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 })),
  afterMs: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 5000 }),
    fc.integer({ min: 20_000, max: 2 * WINDOW_MS }),
    fc.integer({ min: -30_000, max: -1 }),
  ),
});

describeWith(redisServer, 'drawn takes of rate counters', (url) => {
  let redis: RedisLink;
  let sequences = 0;
  beforeAll(async () => {
    redis = await openRedisLink({ url: new Secret(url()), log: silentLog, deadlineMs: 5000 });
  });
  afterAll(() => redis.close());

  test(
    'have the verdicts of the model in one process and in Redis, and a refused one fits after the time that it names',
    async () => {
      await checkSequences(drawSequence(drawTake, STEPS_MAX), async (takes) => {
        const tree = `drawn-${(sequences += 1)}`;
        const story = newStory();
        const clock = fakeClock(START);
        const model = newCounterModel();
        let latest = START;
        const local = localRateCounters(clock);
        const shared = redisRateCounters({ redis, clock, fallback: local });
        for (const { token, limits, afterMs } of takes) {
          // what lies further back is forgotten
          await clock.advance(Math.max(afterMs, latest - WINDOW_MS - clock.now()));
          const isBack = clock.now() < latest;
          latest = Math.max(latest, clock.now());
          const bounds = [token, ...MAKERS[token]].map((name, at) => ({
            key: `${tree}-${name}`,
            limit: limits[at] ?? 1,
          }));
          const [own = { key: tree, limit: 1 }, ...makers] = bounds;
          const isAllowed = model.fits(bounds, clock.now());
          const verdict = await local.take(own.key, own.limit, makers);
          const sharedVerdict = await shared.take(own.key, own.limit, makers);
          story.tell(`${clock.now() - START} ms: ${token} ${limits.join(' ')} -> ${JSON.stringify(verdict)}`);
          const fitsAt = clock.now() + verdict.retryAfterMs;
          story.check(() => {
            expect(sharedVerdict).toEqual(verdict);
            expect(verdict.allowed).toBe(isAllowed);
            // a clock that was set back will meet takes that the verdict does not foresee
            if (!isAllowed && !isBack)
              expect([model.fits(bounds, fitsAt - 1), model.fits(bounds, fitsAt)]).toEqual([false, true]);
          });
          if (isAllowed) model.take(bounds, clock.now());
        }
      });
    },
    SEQUENCES_TIMEOUT_MS,
  );
});
