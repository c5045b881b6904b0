import { expect, test } from '@jest/globals';
import { newRefusalsInRow } from './refusals-in-row.ts';

test.each<[string, readonly (readonly [account: string, isSure?: boolean])[], readonly number[]]>([
  ['one account', [['a'], ['a'], ['a'], ['a'], ['a']], [100, 100, 100, 100, 100]],
  ['two accounts', [['a'], ['b'], ['a'], ['b'], ['a']], [100, 200, 400, 800, 1000]],
  [
    'a second account behind many refusals of the first',
    [['a'], ['a'], ['a'], ['b'], ['b']],
    [100, 100, 100, 800, 1000],
  ],
  [
    'one account whose order cannot have caused them',
    [
      ['a', true],
      ['a', true],
      ['a', true],
    ],
    [100, 200, 400],
  ],
])('refusals in a row of %s hold a channel for their times', (_whose, refusals, times) => {
  const row = newRefusalsInRow({ minMs: 100, maxMs: 1000 });

  expect(refusals.map(([account, isSure]) => row.add(account, isSure))).toEqual(times);
  row.clear();
  expect(row.add('c')).toBe(100);
});
