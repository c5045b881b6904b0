import { expect, test } from '@jest/globals';
import { projectBudget } from './usage-route.ts';

const NOW = Date.UTC(2026, 10, 27, 12);
const DAY_MS = 24 * 60 * 60 * 1000;
const UNIT = 1_000_000_000n;
const project = (free: bigint, spent: bigint) =>
  projectBudget({ freeNanos: free, spentNanos: spent, currency: 'USD', now: NOW });

test.each([
  ['ten days of the pace', 10n * UNIT, 7n * UNIT, NOW + 10 * DAY_MS],
  ['half a day of the pace', UNIT / 2n, 7n * UNIT, NOW + DAY_MS / 2],
  ['nothing left', 0n, 7n * UNIT, NOW],
  ['an overdrawn account', -UNIT, 0n, NOW],
])('with %s the money is spent on the day of the projection', (_what, free, spent, reachedAt) => {
  expect(project(free, spent).reachedAt).toBe(reachedAt);
});

test.each([
  ['nothing spent in a week', UNIT, 0n],
  ['less than a billionth a day', UNIT, 6n],
  ['more than ten years of the pace', 4_000n * UNIT, 7n * UNIT],
])('with %s there is no day', (_what, free, spent) => {
  expect(project(free, spent)).not.toHaveProperty('reachedAt');
});

test('the pace is the mean of seven days', () => {
  expect(project(10n * UNIT, 21n * UNIT)).toMatchObject({
    free: { amount: '10', currency: 'USD' },
    perDay: { amount: '3', currency: 'USD' },
  });
});
