import { describe, expect, test } from '@jest/globals';
import { render } from 'preact-render-to-string';
import type { Token } from '../../api/tokens.ts';
import { EMPTY_TOKEN, toNewToken } from './parts/token-form.tsx';
import { tokenState } from './parts/token-table.tsx';
import { TokensView } from './tokens.tsx';

const token = (over: Partial<Token> = {}): Token => ({
  id: 'token_1',
  name: 'batch',
  models: ['*'],
  used: { amount: '0.4', currency: 'USD' },
  limits: {},
  webhooks: 'none',
  tokens: 'none',
  queue: { wait: 'channels', class: 'standard' },
  createdAt: 0,
  isOwn: false,
  canRevoke: true,
  ...over,
});
const shown = (tokens: readonly Token[], canChange: boolean): string =>
  render(<TokensView list={{ tokens, canChange, models: ['Alpha-H3'], currency: 'USD' }} refresh={() => undefined} />);

test.each([
  ['live', {}],
  ['live', { expiresAt: 101 }],
  ['expired', { expiresAt: 100 }],
  ['revoked', { expiresAt: 1, revokedAt: 50 }],
] as const)('a token is %s', (state, times) => {
  expect(tokenState(times, 100)).toBe(state);
});

describe('the list', () => {
  test('names what a token may do and what it has spent of its limit', () => {
    const text = shown([token({ webhooks: 'read', tokens: 'write', limit: { amount: '2.5', currency: 'USD' } })], true);

    for (const words of ['every model', '$0.40 of $2.50', 'sees webhooks, makes tokens']) expect(text).toContain(words);
  });

  test('offers nothing that the visitor may not do', () => {
    expect(shown([token()], false)).not.toContain('<button');
  });

  test('shows a token below its maker, which it names, with its limits', () => {
    const made = token({ id: 'token_2', name: 'nightly', madeByTokenId: 'token_1', limits: { inFlight: 3 } });
    const text = shown([made, token({ revokedAt: 1 })], true);

    expect(text.indexOf('token_1')).toBeLessThan(text.indexOf('token_2'));
    for (const words of ['lines made-1', 'made by batch', 'Tasks at a time: 3']) expect(text).toContain(words);
    expect(shown([token({ madeByTokenId: 'token_gone' })], true)).toContain('made by token_gone');
  });

  test('offers no end for a token that has ended', () => {
    expect(shown([token({ revokedAt: 1 })], true)).not.toContain('Revoke batch');
  });
});

test('a form sends what was filled in, and nothing for what was left empty', () => {
  expect(
    toNewToken({
      ...EMPTY_TOKEN,
      name: ' batch ',
      models: ['Alpha-H3', 'Beta-V1'],
      limit: '2.50',
      webhooks: 'read',
      queue: { wait: 'own_limit', class: 'batch' },
      counts: { createsPerMinute: '3', inFlight: '' },
    }),
  ).toEqual({
    name: 'batch',
    models: ['Alpha-H3', 'Beta-V1'],
    limit: '2.50',
    createsPerMinute: 3,
    webhooks: 'read',
    tokens: 'none',
    wait: 'own_limit',
    class: 'batch',
  });
});
