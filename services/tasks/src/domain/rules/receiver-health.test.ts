import { describe, expect, test } from '@jest/globals';
import { HEALTHY } from '../webhook.ts';
import type { Health } from '../webhook.ts';
import { FAILING_MAX_MS, afterFailure, afterSuccess, hasFailedTooLong } from './judge-attempts.ts';

const AT = 1_000_000;

/** The health after failures that are a second apart. */
function afterFailures(count: number, from: Health = HEALTHY): Health {
  let health = from;
  for (let index = 0; index < count; index += 1) health = afterFailure(health, AT + index * 1000);
  return health;
}

test.each([
  [1, undefined],
  [4, undefined],
  [5, 5000],
  [6, 10_000],
  [7, 20_000],
  [8, 40_000],
  [9, 60_000],
  [10, 60_000],
  [5000, 60_000],
])('after %i failures in a row the circuit is open for %s ms', (failures, wait) => {
  const { openUntil, lastFailureAt = 0 } = afterFailures(failures);

  expect(openUntil === undefined ? undefined : openUntil - lastFailureAt).toBe(wait);
});

test('a success closes the circuit and forgets the failures', () => {
  const health = afterSuccess(afterFailures(7), AT + 60_000);

  expect(health).toEqual({ failures: 0, lastSuccessAt: AT + 60_000, lastFailureAt: AT + 6000 });
  expect(afterFailure(health, AT + 70_000)).toMatchObject({ failures: 1, failingSince: AT + 70_000 });
});

test('a receiver fails since the first of the failures in a row', () => {
  expect(afterFailures(3)).toMatchObject({ failures: 3, failingSince: AT, lastFailureAt: AT + 2000 });
});

describe('a receiver has failed too long', () => {
  test.each([
    ['after five days of failures', 5, FAILING_MAX_MS, true],
    ['not a moment earlier', 5, FAILING_MAX_MS - 1, false],
    ['not with four failures in a row', 4, FAILING_MAX_MS, false],
  ])('%s', (_what, failures, ms, is) => {
    expect(hasFailedTooLong({ failures, failingSince: AT }, AT + ms)).toBe(is);
  });

  test('never while it has not failed', () => {
    expect(hasFailedTooLong(HEALTHY, AT)).toBe(false);
  });
});
