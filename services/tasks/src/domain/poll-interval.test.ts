import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { errorBackoff, pollInterval } from './poll-interval.ts';
import type { PollPlan } from './poll-interval.ts';

const PLAN: PollPlan = { firstMs: 3000, factor: 1.5, maxMs: 15_000 };
const DAY_MS = 24 * 3600 * 1000;
/** Far below the steps of a loop that the age bounds. */
const READS_MAX = 1000;
const plans: fc.Arbitrary<PollPlan> = fc
  .record({
    firstMs: fc.integer({ min: 0, max: 60_000 }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    over: fc.integer({ min: 0, max: 60_000 }),
  })
  .map(({ firstMs, factor, over }) => ({ firstMs, factor, maxMs: firstMs + over }));
const ages = fc.integer({ min: 0, max: 30 * DAY_MS });
const jitters = fc.double({ min: 0, max: 1, noNaN: true });

describe('the time until the next poll', () => {
  test.each([
    [0, 3000],
    [2999, 3000],
    [3000, 4500],
    [7499, 4500],
    [7500, 6750],
    [14_250, 10_125],
    [24_375, 15_000],
    [DAY_MS, 15_000],
  ])('at the age of %i ms is %i ms without random reduction', (age, interval) => {
    expect(pollInterval(PLAN, age, 1)).toBe(interval);
  });

  test('is randomly reduced by a fifth at most, and never leaves its bounds', () => {
    fc.assert(
      fc.property(plans, ages, jitters, (plan, age, jitter) => {
        const whole = pollInterval(plan, age, 1);
        const shortened = pollInterval(plan, age, jitter);

        expect(shortened).toBeLessThanOrEqual(whole);
        expect(shortened).toBeGreaterThanOrEqual(Math.floor(whole * 0.8));
        expect(whole).toBeLessThanOrEqual(plan.maxMs);
        expect(whole).toBeGreaterThanOrEqual(plan.firstMs);
      }),
    );
  });

  test('never shrinks with age', () => {
    fc.assert(
      fc.property(plans, ages, ages, (plan, one, other) => {
        expect(pollInterval(plan, Math.min(one, other), 1)).toBeLessThanOrEqual(
          pollInterval(plan, Math.max(one, other), 1),
        );
      }),
    );
  });

  test('is computed in a bounded number of steps for any plan and age', () => {
    let reads = 0;
    const counted = (firstMs: number): PollPlan => ({
      firstMs,
      factor: 1,
      get maxMs() {
        reads += 1;
        // also ends a loop that would never end
        if (reads > READS_MAX) throw new Error('the computation has too many steps');
        return 15_000;
      },
    });
    for (const firstMs of [0, 1]) pollInterval(counted(firstMs), 365 * DAY_MS, 1);

    expect(reads).toBeGreaterThan(0);
  });
});

describe('the time until the next poll after failed polls', () => {
  test.each([
    [1, 6000],
    [2, 12_000],
    [3, 24_000],
    [4, 48_000],
    [5, 60_000],
    [1_000_000, 60_000],
  ])('after %i is %i ms', (errors, wait) => {
    expect(errorBackoff(PLAN, errors)).toBe(wait);
  });

  test('is never shorter than the interval of a slow plan, and has a maximum', () => {
    fc.assert(
      fc.property(plans, fc.integer({ min: 1, max: 1000 }), (plan, errors) => {
        expect(errorBackoff(plan, errors)).toBeGreaterThanOrEqual(plan.firstMs);
        expect(errorBackoff(plan, errors)).toBeLessThanOrEqual(Math.max(60_000, plan.maxMs));
      }),
    );
  });
});
