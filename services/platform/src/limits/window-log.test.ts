import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fakeClock } from '../../testing/fake-clock.ts';
import { divideLimits } from './shared-limits.ts';
import { SECOND_MS, WINDOW_MS, newWindowLog } from './window-log.ts';

describe('the takes of the last minute', () => {
  test('count for a minute after the last of their second', async () => {
    const clock = fakeClock();
    const log = newWindowLog(clock);
    log.add(3);
    await clock.advance(400);
    log.add(2);

    await clock.advance(WINDOW_MS - 1);
    expect([log.used(), log.waitMs(4), log.waitMs(5)]).toEqual([5, 1, 0]);
    await clock.advance(1);
    expect([log.used(), log.waitMs(0)]).toEqual([0, 0]);
  });

  test('end in time although the clock was set back by hours', async () => {
    const clock = fakeClock();
    const log = newWindowLog(clock);
    log.add(3);

    await clock.advance(-5 * 3_600_000);
    expect(log.used()).toBe(3);
    await clock.advance(WINDOW_MS);
    expect(log.used()).toBe(0);
  });

  test('take at most sixty-one entries, whatever is taken', async () => {
    const clock = fakeClock();
    const log = newWindowLog(clock);
    for (let times = 0; times < 5000; times += 1) {
      log.add(1);
      await clock.advance(times % 50 === 0 ? 137 : 0);
    }
    for (let seconds = 0; seconds < 90; seconds += 1) {
      log.add(1);
      await clock.advance(1000);
    }
    expect(log.seconds().size).toBeLessThanOrEqual(61);
  });
});

test('takes that leave the pace between them wait for no other, fill each minute, and follow takes at one moment', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 240 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (perMinute, part) => {
        const clock = fakeClock();
        const log = newWindowLog(clock);
        const atOnce = Math.floor(part * (perMinute - 1));
        if (atOnce > 0) log.add(atOnce);
        const begin = clock.now();
        let taken = 0;
        while (clock.now() - begin < 5 * WINDOW_MS) {
          // the takes of a second end together, a minute after the last of them
          expect(log.waitMs(perMinute - 1)).toBeLessThanOrEqual(SECOND_MS);
          await clock.advance(log.waitMs(perMinute - 1));
          log.add(1);
          taken += 1;
          await clock.advance(Math.ceil(log.paceMs(perMinute)));
        }
        expect(taken + atOnce).toBeGreaterThanOrEqual(Math.floor(0.9 * 5 * perMinute));
      },
    ),
    { numRuns: 20 },
  );
});

/** The most takes of the times that lie within one minute. */
function mostInAMinute(times: readonly number[]): number {
  return Math.max(0, ...times.map((start) => times.filter((time) => time >= start && time < start + WINDOW_MS).length));
}

test('no minute has more takes than the limit, and whenever the last 61 s had fewer, one more is taken', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 20_000 })), { maxLength: 120 }),
      async (perMinute, replicas, steps) => {
        let now = 0;
        const clock = { now: () => now, sleep: async () => undefined };
        const peers = Array.from({ length: replicas }, () =>
          divideLimits(clock, () => replicas).forPeer('a', { perMinute }),
        );
        const taken: { at: number; by: number }[] = [];
        for (const [which, waitMs] of steps) {
          const by = which % replicas;
          const wait = await peers[by]!.admit();
          const lately = taken.filter((one) => one.by === by && one.at > now - WINDOW_MS - 1000).length;
          if (wait === 0) taken.push({ at: now, by });
          else expect(lately).toBeGreaterThanOrEqual(Math.max(1, Math.floor(perMinute / replicas)));
          now += waitMs;
        }
        expect(mostInAMinute(taken.map(({ at }) => at))).toBeLessThanOrEqual(Math.max(perMinute, replicas));
      },
    ),
    { numRuns: 300 },
  );
});
