import { expect, test } from '@jest/globals';
import { findDisabledReason } from './token.ts';

test.each([
  ['neither', undefined, undefined, undefined],
  ['an expiry in the future', 1001, undefined, undefined],
  ['an expiry at this moment', 1000, undefined, 'expired'],
  ['an expiry in the past', 999, undefined, 'expired'],
  ['a revocation', undefined, 500, 'revoked'],
  ['both', 999, 500, 'revoked'],
] as const)('a token with %s', (_what, expiresAt, revokedAt, expected) => {
  expect(findDisabledReason({ expiresAt, revokedAt }, 1000)).toBe(expected);
});
