import { expect, test } from '@jest/globals';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { CENT, DOLLAR, books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { KEY, aConfig } from '../../../testing/open-billing.ts';

const aCredit = { id: 'demo', amountNanos: 5n * DOLLAR, reason: 'invoice 7', actor: 'ann' };

describeOnEngines('a credit', (open) => {
  test('adds to the balance and records its reason and operator', async () => {
    const on = await open();

    const { account } = await on.accounts.creditAccount(aCredit);

    expect(account).toMatchObject({ id: 'demo', currency: 'USD', balanceNanos: 105n * DOLLAR, heldNanos: 0n });
    expect(
      await on.sql.read(
        "SELECT kind, account_id, reason, actor FROM financial_events WHERE event_key LIKE 'credit:request:%'",
      ),
    ).toEqual([{ kind: 'credit', account_id: 'demo', reason: 'invoice 7', actor: 'ann' }]);
    await expectSound(on);
  });

  test('counts once per request id, and each time without one', async () => {
    const on = await open();

    await Promise.all(Array.from({ length: 5 }, () => on.accounts.creditAccount({ ...aCredit, requestId: 'r1' })));
    await on.accounts.creditAccount(aCredit);
    const { account } = await on.accounts.creditAccount(aCredit);

    expect(account?.balanceNanos).toBe(115n * DOLLAR);
    await expect(on.accounts.creditAccount({ ...aCredit, amountNanos: 1n, requestId: 'r1' })).rejects.toMatchObject({
      kind: 'conflict',
      reason: 'request_id_reused',
    });
    await expectSound(on);
  });

  test('may be negative and may take the balance below zero', async () => {
    const on = await open();

    const { account } = await on.accounts.creditAccount({ ...aCredit, amountNanos: -101n * DOLLAR });

    expect(account?.balanceNanos).toBe(-DOLLAR);
    await expectSound(on);
  });

  test.each([
    ['an unknown account', { id: 'nobody' }, { kind: 'not_found', reason: 'account_not_found', field: 'id' }],
    ['a missing reason', { reason: ' ' }, { kind: 'invalid', field: 'reason' }],
    ['an amount above the largest', { amountNanos: 10n ** 18n + 1n }, { kind: 'invalid', field: 'amount_nanos' }],
    ['an amount below the smallest', { amountNanos: -(10n ** 18n) - 1n }, { kind: 'invalid', field: 'amount_nanos' }],
  ])('is refused with %s', async (_what, wrong, problem) => {
    const on = await open();

    await expect(on.accounts.creditAccount({ ...aCredit, ...wrong })).rejects.toMatchObject(problem);
    expect(await books(on)).toMatchObject({ balance: 100n * DOLLAR });
  });

  test('never takes the balance out of its bounds', async () => {
    const on = await open(aConfig({ credit: '1000000000' }));
    const most = { ...aCredit, amountNanos: 10n ** 18n };
    for (let time = 0; time < 3; time += 1) await on.accounts.creditAccount(most);

    await expect(on.accounts.creditAccount(most)).rejects.toMatchObject({
      kind: 'invalid',
      reason: 'amount_out_of_bounds',
      field: 'amount_nanos',
    });

    expect(await books(on)).toMatchObject({ balance: 4n * 10n ** 18n });
    await expectSound(on);
  });
});

describeOnEngines('a token', (open) => {
  test('is found by its key, which is stored nowhere', async () => {
    const on = await open();
    const expiresAt = { seconds: BigInt(on.clock.now() / 1000 + 60), nanos: 0 };

    const { token, key } = await on.accounts.createToken({
      accountId: 'demo',
      name: 'ci',
      models: ['Alpha-H3'],
      limitNanos: 50n * CENT,
      expiresAt,
    });

    expect(key).toMatch(/^rg_[0-9a-v]{39}$/);
    expect(token).toMatchObject({
      accountId: 'demo',
      name: 'ci',
      models: ['Alpha-H3'],
      limitNanos: 50n * CENT,
      usedNanos: 0n,
      expiresAt,
    });
    expect(await on.billing.authenticate({ key })).toMatchObject({
      principal: { accountId: 'demo', tokenId: token!.id, models: ['Alpha-H3'], expiresAt },
    });
    expect(
      JSON.stringify(await on.sql.read('SELECT * FROM tokens'), (_name, value) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    ).not.toContain(key.slice(3));
  });

  test('may have its own limits, which its principal contains', async () => {
    const on = await open();
    const limits = { createsPerMinute: 5, readsPerMinute: 0, callsPerMinute: 70_000, inFlight: 2 ** 31 - 1 };

    const { token, key } = await on.accounts.createToken({ accountId: 'demo', models: ['*'], limits });

    expect(token?.limits).toMatchObject(limits);
    expect((await on.billing.authenticate({ key })).principal?.limits).toMatchObject(limits);
    expect((await on.accounts.listTokens({})).tokens.map((one) => one.limits)).toMatchObject([
      { createsPerMinute: 0, inFlight: 0 },
      limits,
    ]);
    await expect(
      on.accounts.createToken({ accountId: 'demo', models: ['*'], limits: { inFlight: -1 } }),
    ).rejects.toMatchObject({ kind: 'invalid', field: 'limits.in_flight' });
  });

  test.each([
    ['write', WebhookRight.UNSPECIFIED, WebhookRight.WRITE],
    ['write', WebhookRight.WRITE, WebhookRight.WRITE],
    ['read', WebhookRight.READ, WebhookRight.READ],
    ['none', WebhookRight.NONE, WebhookRight.NONE],
  ])('has the right %s of webhooks, which its principal contains', async (word, asked, had) => {
    const on = await open();

    const { token, key } = await on.accounts.createToken({ accountId: 'demo', models: ['*'], webhooks: asked });

    expect(token?.webhooks).toBe(had);
    expect((await on.billing.authenticate({ key })).principal?.webhooks).toBe(had);
    expect((await on.billing.getPrincipal({ tokenId: token!.id })).principal?.webhooks).toBe(had);
    expect(await on.sql.read('SELECT webhooks FROM tokens WHERE id = $1', [token!.id])).toEqual([{ webhooks: word }]);
  });

  test('of the configuration has the right of its entry', async () => {
    const on = await open(aConfig({ token: { webhooks: 'read' } }));

    expect((await on.billing.authenticate({ key: KEY })).principal?.webhooks).toBe(WebhookRight.READ);
  });

  test('is refused after it expires or is revoked', async () => {
    const on = await open();
    const { token, key } = await on.accounts.createToken({
      accountId: 'demo',
      models: ['*'],
      expiresAt: { seconds: BigInt(on.clock.now() / 1000 + 60), nanos: 0 },
    });
    const { token: other, key: otherKey } = await on.accounts.createToken({ accountId: 'demo', models: ['*'] });

    await on.accounts.revokeToken({ id: other!.id });
    await on.clock.advance(59_999);
    await on.billing.authenticate({ key });
    await on.clock.advance(1);

    await expect(on.billing.authenticate({ key })).rejects.toMatchObject({
      kind: 'forbidden',
      reason: 'token_disabled',
    });
    await expect(on.billing.authenticate({ key: otherKey })).rejects.toMatchObject({
      kind: 'forbidden',
      reason: 'token_disabled',
    });
    expect((await on.accounts.listTokens({})).tokens.map(({ id }) => id)).toEqual([on.tokenId, token!.id, other!.id]);
  });

  test('keeps the time of its first revocation', async () => {
    const on = await open();
    const { token: first } = await on.accounts.revokeToken({ id: on.tokenId });
    await on.clock.advance(1000);

    const { token: second } = await on.accounts.revokeToken({ id: on.tokenId });

    expect(first?.revokedAt).toBeDefined();
    expect(second).toEqual(first);
    await expect(on.accounts.revokeToken({ id: 'token_x' })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'token_not_found',
    });
  });

  test.each([
    '',
    'short',
    `rg_${'0'.repeat(39)}`,
    'with a blank in it',
    'é'.repeat(20),
    'x'.repeat(257),
    'sk-a-key-of-the-test',
    "' OR 1=1 --",
  ])('is not found by "%s"', async (key) => {
    const on = await open();

    await expect(on.billing.authenticate({ key })).rejects.toMatchObject({
      kind: 'unauthenticated',
      reason: 'invalid_api_key',
    });
  });

  test.each([
    ['for an unknown account', { accountId: 'nobody' }, { kind: 'not_found', reason: 'account_not_found' }],
    ['without models', { models: [] }, { kind: 'invalid', field: 'models' }],
    ['with a negative limit', { limitNanos: -1n }, { kind: 'invalid', field: 'limit_nanos' }],
    ['with an expiry in the past', { expiresAt: { seconds: 1n, nanos: 0 } }, { kind: 'invalid', field: 'expires_at' }],
    ['with a name that is too long', { name: 'n'.repeat(257) }, { kind: 'invalid', field: 'name' }],
  ])('is not created %s', async (_what, wrong, problem) => {
    const on = await open();

    await expect(on.accounts.createToken({ accountId: 'demo', models: ['*'], ...wrong })).rejects.toMatchObject(
      problem,
    );
    expect((await on.accounts.listTokens({})).tokens).toHaveLength(1);
  });

  test('is listed under its own account only', async () => {
    const value = aConfig();
    const on = await open({
      ...value,
      accounts: [
        ...value.accounts,
        { id: 'other', currency: 'EUR', credit: '1', tokens: [{ key: 'another-key', models: [] }] },
      ],
    });

    expect((await on.accounts.listTokens({ accountId: 'other' })).tokens).toMatchObject([
      { accountId: 'other', models: [] },
    ]);
    expect((await on.accounts.listTokens({})).tokens).toHaveLength(2);
  });
});
