import { expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import { newEvenRate, newRate } from './rate-limiter.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import type { Rate } from './rate-limiter.ts';

function taken(rate: Rate, tries: number): number {
  return Array.from({ length: tries }, () => rate.take()).filter(Boolean).length;
}

test('a caller may take the share of a minute at once, and no more', () => {
  const rate = newRate(fakeClock(), 60);

  expect(rate.left()).toBe(60);
  expect(taken(rate, 100)).toBe(60);
  expect(rate.left()).toBe(0);
});

test('the share refills evenly, one a second at sixty a minute', async () => {
  const clock = fakeClock();
  const rate = newRate(clock, 60);
  taken(rate, 60);

  await clock.advance(999);
  expect([rate.left(), rate.take()]).toEqual([0, false]);

  await clock.advance(1);
  expect([rate.left(), rate.take(), rate.take()]).toEqual([1, true, false]);

  await clock.advance(10_000);
  expect(taken(rate, 100)).toBe(10);
});

test('an idle hour accumulates at most the share of one minute', async () => {
  const clock = fakeClock();
  const rate = newRate(clock, 5);

  await clock.advance(3_600_000);

  expect(taken(rate, 100)).toBe(5);
});

test('it returns the wait for one more', async () => {
  const clock = fakeClock();
  const rate = newRate(clock, 30);
  expect(rate.waitMs()).toBe(0);

  taken(rate, 30);
  expect(rate.waitMs()).toBe(2000);

  await clock.advance(500);
  expect(rate.waitMs()).toBe(1500);

  await clock.advance(rate.waitMs());
  expect(rate.take()).toBe(true);
});

test('setting the clock back takes nothing away', async () => {
  const clock = fakeClock();
  const rate = newRate(clock, 60);

  await clock.advance(-3_600_000);
  expect(rate.left()).toBe(60);

  taken(rate, 60);
  await clock.advance(1000);
  expect(taken(rate, 10)).toBe(1);
});

test('a caller may take at most the burst at once, and the full share within the minute', async () => {
  const clock = fakeClock();
  const rate = newRate(clock, 60, 2);
  const taken = (): number => Array.from({ length: 10 }, () => rate.take()).filter(Boolean).length;

  expect(taken()).toBe(2);
  let later = 0;
  for (let second = 0; second < 60; second += 1) {
    await clock.advance(1000);
    later += taken();
  }
  expect(later).toBe(60);
});

/** Takes what it can every 10 ms. Returns the times of the takes. */
async function takeFor(clock: FakeClock, rate: Rate, ms: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let passed = 0; passed < ms; passed += 10) {
    while (rate.take()) times.push(clock.now());
    await clock.advance(10);
  }
  return times;
}

/** The most times in any second, however it is cut. */
function countBusiest(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length));
}

test.each([
  [1200, 20],
  [60, 1],
  [90, 2],
  [1000, 17],
  [6, 1],
])(
  'an even rate of %i a minute has at most %i in any second, also at its start and after a pause',
  async (rate, most) => {
    const clock = fakeClock();
    const even = newEvenRate({ clock, perMinute: () => rate });

    const times = [...(await takeFor(clock, even, 20_000))];
    await clock.advance(3_600_000);
    times.push(...(await takeFor(clock, even, 10_000)));

    expect(countBusiest(times)).toBe(most);
    expect(times.length).toBeGreaterThanOrEqual(Math.floor((rate / 60) * 30 * 0.95));
    expect(times.length).toBeLessThanOrEqual(Math.ceil((rate / 60) * 30) + 2 * most);
  },
);

test('an even rate has nothing free before its start', async () => {
  const clock = fakeClock();
  const even = newEvenRate({ clock, perMinute: () => 1200, restMs: 2000 });

  expect([even.left(), even.take(), even.waitMs()]).toEqual([0, false, 2000]);
  await clock.advance(2000);
  expect([even.left(), even.waitMs()]).toEqual([20, 0]);
});

test('an even rate that becomes smaller counts what was taken, and a clock that is set back takes nothing away', async () => {
  const clock = fakeClock();
  let perMinute = 1200;
  const even = newEvenRate({ clock, perMinute: () => perMinute });
  taken(even, 20);
  perMinute = 600;
  expect([even.left(), even.waitMs()]).toEqual([0, 1000]);

  await clock.advance(-3_600_000);
  expect(even.left()).toBe(10);
});
