import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { priceFacts } from '../../testing/facts.ts';
import type { Hold } from './hold.ts';
import { creditEvent, extendEvent, holdEvent, isBalanced, releaseEvent, settleEvent } from './ledger.ts';
import type { FinancialEvent } from './ledger.ts';

const aHold = (amount: bigint): Hold => ({
  taskId: 'task_1',
  accountId: 'demo',
  tokenId: 'token_1',
  amount,
  currency: 'USD',
  priceVersion: 1,
  placedAt: 1,
  facts: priceFacts({ resolution: '768P', seconds: 5n }),
});

const lines = ({ key, postings }: FinancialEvent): unknown => ({
  key,
  ...Object.fromEntries(postings.map(({ book, amount }) => [book, amount])),
});

test.each<[string, FinancialEvent, unknown]>([
  [
    'a credit',
    creditEvent({
      key: 'credit:1',
      accountId: 'demo',
      currency: 'USD',
      amount: 7n,
      reason: 'paid',
      actor: 'ann',
      at: 1,
    }),
    { key: 'credit:1', 'available:demo': 7n, credit: -7n },
  ],
  ['a hold', holdEvent(aHold(5n)), { key: 'hold:task_1', 'available:demo': -5n, 'held:demo': 5n }],
  ['an extension', extendEvent(aHold(5n), 2n, 1), { key: 'extend:task_1', 'available:demo': -2n, 'held:demo': 2n }],
  [
    'a settlement below the hold',
    settleEvent(aHold(5n), 3n, 1),
    { key: 'settle:task_1', 'held:demo': -5n, revenue: 3n, 'available:demo': 2n },
  ],
  [
    'a settlement above the hold',
    settleEvent(aHold(5n), 9n, 1),
    { key: 'settle:task_1', 'held:demo': -5n, revenue: 9n, 'available:demo': -4n },
  ],
  ['a release', releaseEvent(aHold(5n), 1), { key: 'release:task_1', 'available:demo': 5n, 'held:demo': -5n }],
  ['a hold of zero', holdEvent(aHold(0n)), { key: 'hold:task_1', 'available:demo': -0n, 'held:demo': 0n }],
])('%s is posted to its books', (_what, event, expected) => {
  expect(lines(event)).toEqual(expected);
});

test('every event sums to zero', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 18n });

  fc.assert(
    fc.property(amount, amount, (held, other) => {
      const hold = aHold(held);
      for (const event of [
        holdEvent(hold),
        extendEvent(hold, other, 1),
        settleEvent(hold, other, 1),
        releaseEvent(hold, 1),
      ]) {
        expect(isBalanced(event.postings)).toBe(true);
      }
    }),
  );
});

test('the audit finds lines that do not sum to zero', () => {
  expect(
    isBalanced([
      { book: 'revenue', amount: 1n },
      { book: 'credit', amount: -2n },
    ]),
  ).toBe(false);
});
