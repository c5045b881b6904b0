import { expect, test } from '@jest/globals';
import { nearestName } from './nearest-name.ts';

const NAMES = ['account_id', 'idempotency_key', 'order', 'url', '---'];

test.each([
  ['idempotencykey', 'idempotency_key'],
  ['IDEMPOTENCY-KEY', 'idempotency_key'],
  ['idempotancy_key', 'idempotency_key'],
  ['idempotency', 'idempotency_key'],
  ['acount_id', 'account_id'],
  ['accountId', 'account_id'],
  ['ordr', 'order'],
  ['uri', 'url'],
  ['newer', undefined],
  ['', undefined],
  ['日本語', undefined],
])('%j is taken for %s', (given, meant) => {
  expect(nearestName(given, NAMES)).toBe(meant);
});
