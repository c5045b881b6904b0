import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { LANES_MAX, estimateWaitMs, newLaneRates } from './lane-rates.ts';

const SECOND_MS = 1000;
const START = Date.UTC(2026, 0, 1);

function opened() {
  const clock = fakeClock(START);
  const rates = newLaneRates(clock);
  const record = (turns: number, lane = 'lane'): void => {
    for (let turn = 0; turn < turns; turn += 1) rates.record(lane);
  };
  return { clock, rates, record };
}

describe('the rate of a lane', () => {
  test('is 0 before its first turn', () => {
    expect(opened().rates.readPerMinute('lane')).toBe(0);
  });

  test('counts the turns of the lane alone', async () => {
    const { clock, rates, record } = opened();
    record(3);
    record(7, 'other');
    await clock.advance(60 * SECOND_MS);

    expect([rates.readPerMinute('lane'), rates.readPerMinute('other')]).toEqual([3, 7]);
  });

  test('of a lane that has just begun is that of twenty seconds', () => {
    const { rates, record } = opened();
    record(5);

    expect(rates.readPerMinute('lane')).toBe(15);
  });

  test('is the mean since the first turn, and then of five minutes', async () => {
    const { clock, rates, record } = opened();
    record(12);
    await clock.advance(120 * SECOND_MS);
    expect(rates.readPerMinute('lane')).toBe(6);

    await clock.advance(120 * SECOND_MS);
    record(12);
    expect(rates.readPerMinute('lane')).toBe(6);
    await clock.advance(60 * SECOND_MS);
    expect(rates.readPerMinute('lane')).toBe(12);
  });

  test('is as many times that of this process as there are processes', async () => {
    const clock = fakeClock(START);
    const rates = newLaneRates(clock, () => 3);
    rates.record('lane');
    await clock.advance(60 * SECOND_MS);

    expect(rates.readPerMinute('lane')).toBe(3);
  });

  test('forgets turns after five minutes', async () => {
    const { clock, rates, record } = opened();
    record(5);
    await clock.advance(299 * SECOND_MS);
    expect(rates.readPerMinute('lane')).toBeGreaterThan(1);
    await clock.advance(SECOND_MS);

    expect(rates.readPerMinute('lane')).toBe(0);
  });

  test('counts no turn of an earlier round again', async () => {
    const { clock, rates, record } = opened();
    record(9);
    await clock.advance(300 * SECOND_MS);
    record(1);

    expect(rates.readPerMinute('lane')).toBe(3);
  });

  test('of the lane whose last turn is the oldest is forgotten, if there are too many', () => {
    const { rates, record } = opened();
    record(1, 'kept');
    record(1, 'forgotten');
    record(1, 'kept');
    for (let lane = 2; lane <= LANES_MAX; lane += 1) record(1, `lane ${lane}`);

    expect([rates.readPerMinute('forgotten'), rates.readPerMinute('kept')]).toEqual([0, 6]);
  });
});

describe('the time until a turn', () => {
  test.each([
    ['the next of the only account', { position: 0, weight: 1, weights: 1, perMinute: 6 }, 10],
    ['the third of the only account', { position: 2, weight: 1, weights: 1, perMinute: 6 }, 30],
    ['one of two equal accounts', { position: 0, weight: 1, weights: 2, perMinute: 6 }, 20],
    ['an account with three quarters of the lane', { position: 2, weight: 3, weights: 4, perMinute: 6 }, 40],
  ])('of %s follows from its share', (_whose, place, seconds) => {
    expect(estimateWaitMs(place)).toBe(seconds * SECOND_MS);
  });

  test('is not known without a rate', () => {
    expect(estimateWaitMs({ position: 0, weight: 1, weights: 1, perMinute: 0 })).toBeUndefined();
  });
});
