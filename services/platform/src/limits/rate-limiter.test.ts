import { expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import { newRate } from './rate-limiter.ts';
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
