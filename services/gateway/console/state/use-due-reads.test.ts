import { expect, test } from '@jest/globals';
import { nextDue } from './use-due-reads.ts';

test.each([
  [[], undefined],
  [[{}], undefined],
  [[{ nextAttemptAt: 30 }, {}, { nextAttemptAt: 20 }], 20],
])('of %j the next attempt is due at %s', (deliveries, at) => {
  expect(nextDue(deliveries)).toBe(at);
});
