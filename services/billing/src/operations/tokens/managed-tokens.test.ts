import { expect, test } from '@jest/globals';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { TokenClass, TokenWait } from '@reelgate/proto/billing/v1/token_queue';
import { TokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { CENT } from '../../../testing/books.ts';
import { KEY, aConfig, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';

const managing = aConfig({ token: { name: 'main', tokens: 'write' } });
const CONFIG = {
  ...managing,
  accounts: [
    ...managing.accounts,
    { id: 'other', currency: 'USD', credit: '1', tokens: [{ key: 'another-key', models: ['*'], tokens: 'write' }] },
  ],
};
const A_TOKEN = { accountId: 'demo', name: 'ci', models: ['*'] };

const tokenOf = async ({ billing }: TestBilling, key: string): Promise<string> =>
  (await billing.authenticate({ key })).principal!.tokenId;
const acts = async ({ accounts }: TestBilling) =>
  (await accounts.listActs({})).acts.map(({ detailJson, ...act }) => ({ ...act, detail: JSON.parse(detailJson) }));

describeOnEngines('a token with the right to manage tokens', (open) => {
  test.each([
    [TokenRight.UNSPECIFIED, TokenRight.NONE],
    [TokenRight.WRITE, TokenRight.WRITE],
    [TokenRight.READ, TokenRight.READ],
  ])('has it in its principal, however it was asked for: %s', async (asked, had) => {
    const on = await open(CONFIG);

    const { token, key } = await on.accounts.createToken({ ...A_TOKEN, tokens: asked });

    expect(token?.tokens).toBe(had);
    expect((await on.billing.authenticate({ key })).principal).toMatchObject({ tokens: had, name: 'ci' });
    expect((await on.billing.authenticate({ key: KEY })).principal?.tokens).toBe(TokenRight.WRITE);
  });

  test('has the queue that it was made with, and in its principal what its makers allow of it', async () => {
    const on = await open(CONFIG);
    const queue = { wait: TokenWait.NONE, class: TokenClass.STANDARD };
    const { token, key } = await on.accounts.createToken({ ...A_TOKEN, queue, makerTokenId: on.tokenId });
    await on.accounts.updateTokenLimits({ id: on.tokenId, queue: { class: TokenClass.BATCH } });

    expect(token?.queue).toMatchObject(queue);
    expect((await on.billing.authenticate({ key })).principal?.queue).toMatchObject({
      wait: TokenWait.NONE,
      class: TokenClass.BATCH,
    });
  });

  test('has the price that needs a person, and in its principal the lowest of it and of its makers', async () => {
    const on = await open(CONFIG);
    const [low, high] = [50n * CENT, 200n * CENT];
    const { token, key } = await on.accounts.createToken({
      ...A_TOKEN,
      confirmAboveNanos: high,
      makerTokenId: on.tokenId,
    });
    const readBound = async (): Promise<bigint | undefined> =>
      (await on.billing.authenticate({ key })).principal?.confirmAboveNanos;
    const first = await readBound();
    const seen = [];
    for (const confirmAboveNanos of [low, undefined, -1n, 0n]) {
      await on.accounts.updateTokenLimits({
        id: on.tokenId,
        ...(confirmAboveNanos !== undefined && { confirmAboveNanos }),
      });
      seen.push(await readBound());
    }
    const detail = (await acts(on)).find(({ action }) => action === 'token_limits_changed')?.detail;

    expect([token?.confirmAboveNanos, first, ...seen]).toEqual([high, high, low, low, high, 0n]);
    expect(detail).toMatchObject({ confirm_above: '0' });
  });

  test('makes a token that works, and is named by it and by the act', async () => {
    const on = await open(CONFIG);

    const { token, key } = await on.accounts.createToken({ ...A_TOKEN, makerTokenId: on.tokenId, actor: 'not me' });

    expect(await tokenOf(on, key)).toBe(token!.id);
    expect(token).toMatchObject({ madeByTokenId: on.tokenId, tokens: TokenRight.NONE });
    expect(await acts(on)).toEqual([
      expect.objectContaining({
        actor: 'token main',
        action: 'token_created',
        subject: token!.id,
        detail: expect.objectContaining({ account: 'demo', made_by: on.tokenId, tokens: 'none' }),
      }),
    ]);
  });

  test.each([
    ['a right that it lacks', { webhooks: WebhookRight.WRITE }, { reason: 'invalid_request', field: 'webhooks' }],
    ['for another account', { accountId: 'other' }, { reason: 'token_not_found', field: 'maker_token_id' }],
  ])('gives no token %s', async (_what, wanted, problem) => {
    const on = await open(CONFIG);
    const { token: maker } = await on.accounts.createToken({
      ...A_TOKEN,
      tokens: TokenRight.WRITE,
      webhooks: WebhookRight.READ,
    });

    await expect(on.accounts.createToken({ ...A_TOKEN, makerTokenId: maker!.id, ...wanted })).rejects.toMatchObject(
      problem,
    );
    expect((await on.accounts.listTokens({})).tokens).toHaveLength(3);
    expect(await acts(on)).toHaveLength(1);
  });

  test.each([
    ['without the right', { tokens: TokenRight.READ }, { kind: 'forbidden', reason: 'tokens_not_allowed' }],
    ['of the class batch', { queue: { class: TokenClass.BATCH } }, { reason: 'invalid_request', field: 'queue.class' }],
    ['with a spending limit', { limitNanos: CENT }, { reason: 'invalid_request', field: 'limit_nanos' }],
  ])('a token %s makes none like this', async (_what, rights, problem) => {
    const on = await open(CONFIG);
    const { token } = await on.accounts.createToken({ ...A_TOKEN, tokens: TokenRight.WRITE, ...rights });

    await expect(on.accounts.createToken({ ...A_TOKEN, makerTokenId: token!.id })).rejects.toMatchObject(problem);
  });

  test('makes and revokes nothing once it is revoked', async () => {
    const on = await open(CONFIG);
    const { token } = await on.accounts.createToken(A_TOKEN);
    await on.accounts.revokeToken({ id: on.tokenId });
    const problem = { kind: 'forbidden', reason: 'token_disabled' };

    await expect(on.accounts.createToken({ ...A_TOKEN, makerTokenId: on.tokenId })).rejects.toMatchObject(problem);
    await expect(on.accounts.revokeToken({ id: token!.id, revokerTokenId: on.tokenId })).rejects.toMatchObject(problem);
  });

  test('makes no more while 500 that it made are valid', async () => {
    const on = await open(CONFIG);
    const { token } = await on.accounts.createToken({ ...A_TOKEN, makerTokenId: on.tokenId });
    await on.sql.write(
      `WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 499)
       INSERT INTO tokens (id, account_id, name, models, used_nanos, key_hash, created_at, made_by_token_id)
       SELECT 'token_' || at, 'demo', '', '["*"]', 0, 'hash ' || at, 0, 'token_0' FROM n`,
    );

    await expect(on.accounts.createToken({ ...A_TOKEN, makerTokenId: on.tokenId })).rejects.toMatchObject({
      kind: 'unprocessable',
      reason: 'too_many_tokens',
    });
    await on.accounts.revokeToken({ id: token!.id, revokerTokenId: on.tokenId });
    await expect(on.accounts.createToken({ ...A_TOKEN, makerTokenId: on.tokenId })).resolves.toBeDefined();
  });

  test('revokes tokens that it made, and those of other accounts do not exist for it', async () => {
    const on = await open(CONFIG);
    const made = await on.accounts.createToken({ ...A_TOKEN, makerTokenId: on.tokenId });
    const [{ token }, foreign] = [made, await tokenOf(on, 'another-key')];

    await on.accounts.revokeToken({ id: token!.id, revokerTokenId: on.tokenId });

    expect((await acts(on))[0]).toMatchObject({ actor: 'token main', action: 'token_revoked', subject: token!.id });
    for (const id of [foreign, 'token_x'])
      await expect(on.accounts.revokeToken({ id, revokerTokenId: on.tokenId })).rejects.toMatchObject({
        reason: 'token_not_found',
        field: 'id',
      });
    expect((await on.accounts.listTokens({ accountId: 'other' })).tokens[0]?.revokedAt).toBeUndefined();
  });

  test('may revoke itself even without the right, but no other token', async () => {
    const on = await open(CONFIG);
    const { token } = await on.accounts.createToken(A_TOKEN);

    await expect(on.accounts.revokeToken({ id: on.tokenId, revokerTokenId: token!.id })).rejects.toMatchObject({
      reason: 'token_not_found',
    });
    const { token: revoked } = await on.accounts.revokeToken({ id: token!.id, revokerTokenId: token!.id });

    expect(revoked?.revokedAt).toBeDefined();
  });
});

describeOnEngines('the limits of a token', (open) => {
  test('are replaced together, which every cache of principals hears of and an act records', async () => {
    const on = await open(aConfig({ token: { limits: { in_flight: 3 } } }));
    const changed = Promise.withResolvers<string>();
    await on.bus.listen(TokenChangedSchema, ({ tokenId }) => {
      changed.resolve(tokenId);
    });

    const { token } = await on.accounts.updateTokenLimits({
      id: on.tokenId,
      limitNanos: 40n * CENT,
      limits: { createsPerMinute: 7 },
      actor: 'ann',
      reason: 'too fast',
    });

    expect(token).toMatchObject({ limitNanos: 40n * CENT, limits: { createsPerMinute: 7, inFlight: 0 } });
    expect(await changed.promise).toBe(on.tokenId);
    expect((await on.billing.authenticate({ key: KEY })).principal?.limits).toMatchObject({ createsPerMinute: 7 });
    expect((await acts(on))[0]).toMatchObject({
      actor: 'ann',
      action: 'token_limits_changed',
      subject: on.tokenId,
      reason: 'too fast',
      detail: { limit: '0.4', creates_per_minute: 7, before: { in_flight: 3 } },
    });
    await on.billing.placeHold(order(on, 'task_1'));
    await expect(on.billing.placeHold(order(on, 'task_2'))).rejects.toMatchObject({ reason: 'insufficient_quota' });
  });

  test.each([
    ['as the configuration says', undefined, { wait: TokenWait.OWN_LIMIT, class: TokenClass.STANDARD }],
    ['as the change says', { class: TokenClass.BATCH }, { wait: TokenWait.CHANNELS, class: TokenClass.BATCH }],
  ])('are replaced, and then its tasks wait %s', async (_what, queue, expected) => {
    const on = await open(aConfig({ token: { queue: { wait: 'own_limit' } } }));

    const { token } = await on.accounts.updateTokenLimits({ id: on.tokenId, ...(queue && { queue }) });

    expect(token?.queue).toMatchObject(expected);
    expect((await on.billing.getPrincipal({ tokenId: on.tokenId })).principal?.queue).toMatchObject(expected);
    expect((await acts(on))[0]?.detail).toMatchObject({ before: { queue: { wait: 'own_limit', class: 'standard' } } });
  });

  test('of an unknown token are not changed', async () => {
    const on = await open();

    await expect(on.accounts.updateTokenLimits({ id: 'token_x' })).rejects.toMatchObject({
      reason: 'token_not_found',
      field: 'id',
    });
    expect(await acts(on)).toEqual([]);
  });
});
