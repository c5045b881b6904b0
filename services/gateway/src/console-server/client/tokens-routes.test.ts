import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { TokenSchema } from '@reelgate/proto/billing/v1/account_service';
import { TokenClass, TokenWait } from '@reelgate/proto/billing/v1/token_queue';
import { TokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import type { Token } from '../../../console/api/tokens.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { signIn } from '../../../testing/signed-in.ts';

const FORM = { name: 'batch', models: ['Alpha-H3'], webhooks: 'read', tokens: 'none' };

let under: GatewayUnderTest;
beforeEach(async () => {
  under = await startGatewayUnderTest();
  for (const [key, tokens] of [
    ['rg_writer', TokenRight.WRITE],
    ['rg_reader', TokenRight.READ],
    ['rg_plain', TokenRight.NONE],
  ] as const) {
    under.billing.tokens.set(key, { tokenId: key.slice(3), tokens });
    under.accounts.tokens.set(key.slice(3), create(TokenSchema, { id: key.slice(3), accountId: 'demo', tokens }));
  }
});
afterEach(() => under.stop());

test('a token that may see tokens gets those of its account, without their keys, and revokes none', async () => {
  const [own] = [...under.accounts.tokens.keys()].slice(-1);
  under.accounts.tokens.clear();
  under.accounts.tokens.set('foreign', create(TokenSchema, { id: 'foreign', accountId: 'other' }));
  under.accounts.tokens.set(
    'reader',
    create(TokenSchema, {
      id: 'reader',
      accountId: 'demo',
      name: 'reporting',
      models: ['*'],
      limitNanos: 12_500_000_000n,
      usedNanos: 400_000_000n,
      limits: { createsPerMinute: 5 },
      queue: { wait: TokenWait.OWN_LIMIT },
      webhooks: WebhookRight.READ,
      tokens: TokenRight.READ,
      createdAt: timestampFromMs(5),
      madeByTokenId: own ?? '',
    }),
  );
  const read = await signIn(under, 'rg_reader');

  expect((await read.get('/tokens')).json).toEqual({
    tokens: [
      {
        id: 'reader',
        name: 'reporting',
        models: ['*'],
        limit: { amount: '12.5', currency: 'USD' },
        used: { amount: '0.4', currency: 'USD' },
        limits: { createsPerMinute: 5 },
        webhooks: 'read',
        tokens: 'read',
        queue: { wait: 'own_limit', class: 'standard' },
        createdAt: 5,
        isOwn: true,
        canRevoke: false,
        madeByTokenId: own,
      },
    ],
    canChange: false,
    models: ['Alpha-H3', 'Beta-V1'],
    currency: 'USD',
  });
});

test('a token may revoke itself and what it made, also through others, and sees the others of its account', async () => {
  for (const [id, madeByTokenId] of [
    ['writer', 'first'],
    ['made', 'writer'],
    ['made-by-made', 'made'],
    ['sibling', 'first'],
  ] as const)
    under.accounts.tokens.set(id, create(TokenSchema, { id, accountId: 'demo', madeByTokenId }));
  const { tokens } = (await (await signIn(under, 'rg_writer')).get('/tokens')).json as { tokens: readonly Token[] };

  expect(tokens.filter(({ canRevoke }) => canRevoke)).toMatchObject([
    { id: 'writer', isOwn: true, madeByTokenId: 'first' },
    { id: 'made', madeByTokenId: 'writer' },
    { id: 'made-by-made', madeByTokenId: 'made' },
  ]);
  expect(tokens.find(({ id }) => id === 'sibling')).toMatchObject({ canRevoke: false, madeByTokenId: 'first' });
});

test('a token is revoked with all that it made if that is asked for, and the answer counts them', async () => {
  under.accounts.madeRevoked = 2;
  const at = await signIn(under, 'rg_writer');
  const { json } = await at.send('DELETE', '/tokens/plain?with_made=true');
  const wrong = await at.send('DELETE', '/tokens/plain?with_made=yes');

  expect(json).toMatchObject({ token: { id: 'plain' }, madeRevoked: 2 });
  expect({ status: wrong.status, param: wrong.json.error.param }).toEqual({ status: 400, param: 'with_made' });
  expect(under.accounts.revocations).toMatchObject([{ id: 'plain', withMade: true }]);
});

test('a token is made by the one that is signed in, and its key is shown once', async () => {
  const at = await signIn(under, 'rg_writer');
  const form = { ...FORM, limit: '2.50', expiresAt: 9_000_000, inFlight: 3, class: 'batch', label: 'spring' };
  const made = await at.send('POST', '/tokens', form);

  expect(made.json).toMatchObject({
    key: 'rg_key-of-batch',
    token: { name: 'batch', isOwn: false, madeByTokenId: 'writer' },
  });
  expect(under.accounts.creates).toMatchObject([
    {
      accountId: 'demo',
      makerTokenId: 'writer',
      actor: '',
      limitNanos: 2_500_000_000n,
      limits: { inFlight: 3, createsPerMinute: 0 },
      configuredLimits: { createsPerMinute: 100_000, inFlight: 0 },
      webhooks: WebhookRight.READ,
      tokens: TokenRight.NONE,
      queue: { wait: TokenWait.CHANNELS, class: TokenClass.BATCH },
      label: 'spring',
    },
  ]);
  expect((await at.get('/tokens')).text).not.toContain('rg_key');
});

test.each([
  ['limit', { limit: '1.0000000001' }],
  ['limit', { limit: '-1' }],
  ['limit', { limit: '1e3' }],
  ['models', { models: [] }],
  ['name', { name: '' }],
  ['tokens', { tokens: 'all' }],
  ['inFlight', { inFlight: 0 }],
  ['expiresAt', { expiresAt: 'tomorrow' }],
  ['actor', { actor: 'ada' }],
  ['label', { label: 'two words' }],
])('a form with a wrong %s is refused by the name of the field', async (field, wrong) => {
  const at = await signIn(under, 'rg_writer');
  const { status, json } = await at.send('POST', '/tokens', { ...FORM, ...wrong });

  expect({ status, param: json.error.param }).toEqual({ status: 400, param: field });
  expect(under.accounts.creates).toEqual([]);
});

test("a refusal of billing names the form's field", async () => {
  const at = await signIn(under, 'rg_writer');
  under.accounts.refusal = new Problem({
    kind: 'invalid',
    reason: 'invalid_request',
    field: 'limits.creates_per_minute',
    message: 'must be from 1 to 5',
  });

  expect((await at.send('POST', '/tokens', FORM)).json.error).toMatchObject({
    param: 'createsPerMinute',
    message: 'createsPerMinute must be from 1 to 5',
  });
});

test.each<[token: string, method: 'GET' | 'POST' | 'DELETE', path: string]>([
  ['rg_plain', 'GET', '/tokens'],
  ['rg_plain', 'POST', '/tokens'],
  ['rg_plain', 'DELETE', '/tokens/reader'],
  ['rg_reader', 'POST', '/tokens'],
  ['rg_reader', 'DELETE', '/tokens/plain'],
])('%s without the right is refused at %s %s', async (token, method, path) => {
  const at = await signIn(under, token);
  const { status, json } =
    method === 'GET' ? await at.get(path) : await at.send(method, path, method === 'POST' ? FORM : undefined);

  expect({ status, code: json.error.code }).toEqual({ status: 403, code: 'tokens_not_allowed' });
  expect([...under.accounts.creates, ...under.accounts.revocations]).toEqual([]);
});

test('a token that may change tokens revokes another one in its own name', async () => {
  const at = await signIn(under, 'rg_writer');
  const { status, json, headers } = await at.send('DELETE', '/tokens/plain');

  expect({ status, json }).toMatchObject({
    status: 200,
    json: { token: { id: 'plain', revokedAt: 1 }, madeRevoked: 0 },
  });
  expect(headers['set-cookie']).toBeUndefined();
  expect(under.accounts.revocations).toMatchObject([{ id: 'plain', revokerTokenId: 'writer', actor: '' }]);
});

test('a token that revokes itself is signed out', async () => {
  const at = await signIn(under, 'rg_plain');
  const { json, headers } = await at.send('DELETE', '/tokens/plain');

  expect(json).toMatchObject({ token: { id: 'plain', isOwn: true, revokedAt: 1 } });
  expect(headers['set-cookie']).toEqual([expect.stringMatching(/^__Host-reelgate-console=;.*Max-Age=0/)]);
});
