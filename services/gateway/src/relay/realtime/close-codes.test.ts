import { expect, test } from '@jest/globals';
import { toCloseCode, toCloseReason } from './run-session.ts';

test.each([
  [1000, 1000],
  [1001, 1001],
  [1008, 1008],
  [1014, 1014],
  [3000, 3000],
  [4999, 4999],
  [1005, undefined],
  [1006, 1011],
  [1015, 1011],
  [1004, 1011],
  [2999, 1011],
  [0, 1011],
])('%d is passed on as %p', (code, expected) => {
  expect(toCloseCode(code)).toBe(expected);
});

test('a reason is cut between characters, to the size of a close frame', () => {
  expect(toCloseReason('bye')).toBe('bye');
  expect(toCloseReason('é'.repeat(100))).toBe('é'.repeat(61));
});
