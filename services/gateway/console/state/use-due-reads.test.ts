import { expect, test } from '@jest/globals';
import { nextDue } from './use-due-reads.ts';

test.each([
  [[], undefined],
  [[{}], undefined],
  [[{ nextAttemptAt: '1970-01-01T00:00:30Z' }, {}, { nextAttemptAt: '1970-01-01T00:00:20Z' }], 20_000],
])('of %j the next attempt is due at %s', (deliveries, at) => {
  expect(nextDue(deliveries)).toBe(at);
});
