import { timestampMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { countMargin } from '../../domain/margin.ts';
import { newMarginGroups } from './get-margins.ts';

const charged = (amount: bigint, { currency = 'USD', bucketAt = 0 } = {}) => ({
  ...countMargin(amount, { amount: 1n, source: 'estimated' }),
  currency,
  bucketAt,
});

test('the largest groups of each currency are named, and the others are one', () => {
  const groups = newMarginGroups(2);
  for (const [key, amount] of Object.entries({ a: 3n, b: 9n, c: 4n, d: 1n })) groups.add(key, charged(amount));
  groups.add('e', charged(1n, { currency: 'EUR' }));

  expect(groups.list().map(({ currency, key, rest, total }) => [currency, key, rest, total?.chargedNanos])).toEqual([
    ['EUR', 'e', false, 1n],
    ['USD', 'b', false, 9n],
    ['USD', 'c', false, 4n],
    ['USD', '', true, 4n],
  ]);
});

test('what a cut takes stays in the rest, bucket by bucket', () => {
  const groups = newMarginGroups(1);
  groups.add('a', charged(1n, { bucketAt: 60 }));
  groups.add('b', charged(2n, { bucketAt: 30 }));
  groups.cut();
  groups.add('c', charged(3n, { bucketAt: 60 }));

  const [, rest] = groups.list();

  expect(rest?.parts.map(({ beginsAt, sum }) => [timestampMs(beginsAt!), sum?.chargedNanos])).toEqual([
    [30, 2n],
    [60, 1n],
  ]);
});

test('a group that only cost is as large as its cost', () => {
  const groups = newMarginGroups(1);
  groups.add('charged', charged(5n));
  groups.add('lost', { ...countMargin(0n, { amount: 6n, source: 'reported' }), currency: 'USD', bucketAt: 0 });

  expect(groups.list().map(({ key }) => key)).toEqual(['lost', '']);
});

test('a group without any request is left out', () => {
  const groups = newMarginGroups(1);
  groups.add('a', { ...charged(0n), requests: 0n });

  expect(groups.list()).toEqual([]);
});
