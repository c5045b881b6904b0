import { expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import { divideLimits } from './shared-limits.ts';
import { listTimes, announceTakes } from './announce-takes.ts';

const START = Date.UTC(2026, 0, 1);

function open(perMinute: number) {
  const clock = fakeClock(START);
  const announced: { readonly at: number; readonly count: number }[] = [];
  const limits = announceTakes(
    divideLimits(clock).forPeer('peer', { perMinute }),
    clock,
    (takes) => void announced.push(takes),
  );
  return { clock, announced, limits };
}

test('each call that is admitted is announced before it is sent, and few messages announce many', () => {
  const { announced, limits } = open(10_000);

  for (let count = 1; count <= 10_000; count += 1) {
    expect(limits.admit()).toBe(0);
    const last = announced.at(-1);
    expect(last?.at).toBe(START);
    expect(last?.count).toBeGreaterThanOrEqual(count);
    expect(last?.count).toBeLessThanOrEqual(count * 1.25);
  }
  expect(announced.length).toBeLessThan(50);
});

test('each second has its own count, and a call that is not admitted has none', async () => {
  const { clock, announced, limits } = open(3);

  void limits.admit();
  await clock.advance(1500);
  void limits.admit();
  void limits.admit();
  expect(limits.admit()).toBeGreaterThan(0);

  expect(announced).toEqual([
    { at: START, count: 1 },
    { at: START + 1000, count: 1 },
    { at: START + 1000, count: 2 },
  ]);
});

test('who learns what was announced admits no more within a minute than the limit', async () => {
  const { clock, announced, limits } = open(20);
  for (let second = 0; second < 5; second += 1) {
    for (let call = 0; call < 4; call += 1) void limits.admit();
    await clock.advance(1000);
  }
  const next = divideLimits(clock).forPeer('peer', { perMinute: 20 });

  const lastOfSecond = new Map(announced.map((takes) => [takes.at, { peer: 'peer', ...takes }]));
  next.learnTakes(listTimes([...lastOfSecond.values()], 20));

  expect(next.admit()).toBeGreaterThan(0);
  await clock.advance(61_000);
  expect(next.admit()).toBe(0);
});
