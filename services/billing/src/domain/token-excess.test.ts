import { expect, test } from '@jest/globals';
import { findExcess } from './token-excess.ts';
import type { TokenRights } from './token.ts';
import { NO_LIMITS } from './token.ts';
import type { TokenLimits } from './token.ts';

const MAKER: TokenRights = {
  models: ['Alpha-H3', 'chat'],
  expiresAt: 1000,
  limit: 5n,
  limits: { ...NO_LIMITS, createsPerMinute: 10 },
  webhooks: 'read',
  tokens: 'write',
  queue: { wait: 'channels', class: 'standard' },
};
const CONFIGURED: TokenLimits = { ...NO_LIMITS, readsPerMinute: 600, createsPerMinute: 60 };
const SAME: TokenRights = MAKER;
const FREE: TokenRights = {
  models: ['*'],
  expiresAt: undefined,
  limit: undefined,
  limits: NO_LIMITS,
  webhooks: 'write',
  tokens: 'write',
  queue: { wait: 'own_limit', class: 'interactive' },
};

test.each<readonly [string, Partial<TokenRights>]>([
  ['all that its maker has', {}],
  ['fewer models', { models: ['chat'] }],
  ['a lesser right of webhooks', { webhooks: 'none' }],
  ['a lesser right of tokens', { tokens: 'read' }],
  ['an earlier end', { expiresAt: 999 }],
  ['a lower spending limit', { limit: 4n }],
  ['a limit up to the configured one', { limits: { ...MAKER.limits, readsPerMinute: 600 } }],
  ['a lower class', { queue: { wait: 'channels', class: 'batch' } }],
  ['a narrower wait', { queue: { wait: 'none', class: 'standard' } }],
  ['a lower limit', { limits: { ...NO_LIMITS, createsPerMinute: 9 } }],
])('a token may give another one %s', (_what, wanted) => {
  expect(findExcess({ ...SAME, ...wanted }, MAKER, CONFIGURED)).toBeUndefined();
});

test.each<readonly [string, Partial<TokenRights>, string]>([
  ['another model', { models: ['chat', 'Beta-V1'] }, 'models'],
  ['every model', { models: ['*'] }, 'models'],
  ['a greater right of webhooks', { webhooks: 'write' }, 'webhooks'],
  ['a later end', { expiresAt: 1001 }, 'expires_at'],
  ['a higher spending limit', { limit: 6n }, 'limit_nanos'],
  ['no spending limit', { limit: undefined }, 'limit_nanos'],
  ['no end', { expiresAt: undefined }, 'expires_at'],
  ['a higher limit', { limits: { ...NO_LIMITS, createsPerMinute: 11 } }, 'limits.creates_per_minute'],
  ['no limit in place of its own', { limits: NO_LIMITS }, 'limits.creates_per_minute'],
  ['a limit above the configured one', { limits: { ...MAKER.limits, readsPerMinute: 601 } }, 'limits.reads_per_minute'],
  ['a better class', { queue: { wait: 'channels', class: 'interactive' } }, 'queue.class'],
  ['a wider wait', { queue: { wait: 'own_limit', class: 'standard' } }, 'queue.wait'],
  ['a limit in place of one that is not known', { limits: { ...MAKER.limits, inFlight: 1 } }, 'limits.in_flight'],
])('a token may not give another one %s', (_what, wanted, field) => {
  expect(findExcess({ ...SAME, ...wanted }, MAKER, CONFIGURED)?.field).toBe(field);
});

test('a token that may read tokens gives no right to change them', () => {
  expect(findExcess(SAME, { ...MAKER, tokens: 'read' }, CONFIGURED)).toEqual({
    field: 'tokens',
    message: 'must be at most read, the right of the token that makes it',
  });
});

test('a token for every model that never ends gives any model and any end', () => {
  expect(findExcess({ ...FREE, models: ['Beta-V1'], expiresAt: 5 }, FREE, CONFIGURED)).toBeUndefined();
});
