import { expect, test } from '@jest/globals';
import { boundQueue, findDisabledReason } from './token.ts';
import type { Token, TokenQueue } from './token.ts';

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

const waiting = (queue: TokenQueue) => ({ queue }) as Token;

test.each<readonly [string, readonly TokenQueue[], TokenQueue]>([
  ['no maker', [], { wait: 'own_limit', class: 'interactive' }],
  ['a maker of a lower class', [{ wait: 'own_limit', class: 'batch' }], { wait: 'own_limit', class: 'batch' }],
  [
    'makers of which each bounds a part',
    [
      { wait: 'none', class: 'interactive' },
      { wait: 'channels', class: 'standard' },
    ],
    { wait: 'none', class: 'standard' },
  ],
])('a token that may wait in every way waits, with %s, as these allow', (_what, makers, expected) => {
  const token = waiting({ wait: 'own_limit', class: 'interactive' });

  expect(boundQueue({ token, makers: makers.map(waiting) })).toEqual(expected);
});
