import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { ReplicaServesSchema, TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { SessionService } from '@reelgate/proto/billing/v1/session_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { toModelLabel } from './billing-metrics.ts';
import { CENT, DOLLAR, books, expectSound } from '../testing/books.ts';
import { CHAT_PRICES, callOrder } from '../testing/call-orders.ts';
import { describeOnEngines, opener } from '../testing/describe-on-engines.ts';
import { KEY, aConfig, order, temporaryLocation } from '../testing/open-billing.ts';

const keyless = (tokens: object[]) => ({
  ...aConfig(),
  accounts: [{ id: 'demo', currency: 'USD', credit: '100', tokens }],
});

describeOnEngines('a start', (open) => {
  test('creates the accounts and tokens of the configuration, and credits each account once', async () => {
    const on = await open();

    expect(await on.billing.authenticate({ key: KEY })).toMatchObject({
      principal: { accountId: 'demo', models: ['*'] },
    });
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 0n, used: 0n });
    expect(on.service.newKeys).toEqual([]);
    expect(await on.sql.read('SELECT event_key, kind FROM financial_events')).toEqual([
      { event_key: 'credit:initial:demo', kind: 'credit' },
    ]);
  });

  test('leaves existing accounts and tokens as they are', async () => {
    const first = await open();
    await first.billing.placeHold(order(first, 'task_1'));
    await first.accounts.revokeToken({ id: first.tokenId });

    const second = await first.restart(aConfig({ credit: '7', token: { models: ['other'], limit: '1' } }));

    const { tokens } = await second.accounts.listTokens({});
    expect(tokens).toMatchObject([{ id: first.tokenId, models: ['*'] }]);
    expect(tokens[0]?.revokedAt).toBeDefined();
    expect(await books(second)).toMatchObject({ balance: 100n * DOLLAR, held: 40n * CENT });
    await expectSound(second);
  });

  test('generates a key once for each token without one, and hands it over', async () => {
    const first = await open(keyless([{ models: ['*'] }, { models: ['a'] }, { models: ['b'], name: 'ci' }]));
    const keys = first.service.newKeys.map(({ key }) => key.reveal());

    const second = await first.restart();

    expect(keys).toEqual(Array(3).fill(expect.stringMatching(/^rg_[0-9a-v]{39}$/)));
    expect(new Set(keys).size).toBe(3);
    expect(JSON.stringify(first.service.newKeys)).not.toContain(keys[0]);
    expect(second.service.newKeys).toEqual([]);
    expect((await second.accounts.listTokens({})).tokens).toHaveLength(3);
    expect(await second.billing.authenticate({ key: keys[1]! })).toMatchObject({ principal: { models: ['a'] } });

    const third = await second.restart(
      keyless([{ models: ['*'] }, { models: ['a'] }, { models: ['c'] }, { models: ['b'], name: 'ci' }]),
    );
    expect(third.service.newKeys).toHaveLength(1);
  });

  test('applies the limits and the expiry of a token', async () => {
    const on = await open(
      aConfig({
        token: { limit: '0.5', expires: '2026-01-02', name: 'short', limits: { creates_per_minute: 7, in_flight: 3 } },
      }),
    );

    expect((await on.accounts.listTokens({})).tokens).toMatchObject([
      {
        name: 'short',
        limitNanos: 50n * CENT,
        limits: { createsPerMinute: 7, readsPerMinute: 0, callsPerMinute: 0, inFlight: 3 },
        expiresAt: { seconds: BigInt(Date.UTC(2026, 0, 2) / 1000) },
      },
    ]);
  });

  test('creates everything once when several processes start at the same time', async () => {
    const first = await open({ ...aConfig(), accounts: [] });
    const value = {
      ...aConfig(),
      accounts: Array.from({ length: 10 }, (_, index) => ({
        id: `a-${index}`,
        currency: 'USD',
        credit: '1',
        tokens: [{ key: `key-number-${index}`, models: ['*'] }],
      })),
    };

    await Promise.all(Array.from({ length: 4 }, () => first.service.reload(value)));

    expect((await first.accounts.listTokens({})).tokens).toHaveLength(10);
    expect((await first.accounts.getAccount({ id: 'a-3' })).account?.balanceNanos).toBe(DOLLAR);
    await expectSound(first);
  });
});

const open = opener(async () => temporaryLocation());

test('a reload adds accounts and tokens, and leaves tokens without a key to the next start', async () => {
  const on = await open();
  const value = aConfig();
  const grown = {
    ...value,
    accounts: [
      ...value.accounts,
      { id: 'new', currency: 'EUR', credit: '1', tokens: [{ key: 'a-further-key', models: ['*'] }, { models: ['*'] }] },
    ],
  };

  await on.service.reload(grown);

  expect((await on.accounts.getAccount({ id: 'new' })).account).toMatchObject({
    currency: 'EUR',
    balanceNanos: DOLLAR,
  });
  expect((await on.accounts.listTokens({ accountId: 'new' })).tokens).toHaveLength(1);
  expect((await on.restart(grown)).service.newKeys).toMatchObject([{ account: 'new' }]);
});

test('a stopping billing is needed for the calls in hand, unless another replica serves', async () => {
  const on = await open(aConfig({ prices: CHAT_PRICES }));
  await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] });
  expect(await on.service.isNeeded?.()).toBe(true);

  on.bus.announce(ReplicaServesSchema, create(ReplicaServesSchema, { replicaId: 'replica_other' }));
  await on.clock.advance(1);
  expect(await on.service.isNeeded?.()).toBe(false);

  await on.clock.advance(3000);
  expect(await on.service.isNeeded?.()).toBe(true);
});

test('the program offers the services of billing and is ready until it stops', async () => {
  const on = await open();

  // by name, because the difference of two descriptors fills the memory
  expect(on.service.bindings.map(({ service }) => service.typeName)).toEqual(
    [BillingService, AccountService, CallService, UsageService, SessionService].map(({ typeName }) => typeName),
  );
  expect(await on.service.ready()).toBe(true);
  await on.bus.close();
  await on.service.stop();
  await expect(on.service.ready()).rejects.toThrow();
});

test('a revocation is announced', async () => {
  const on = await open();
  const heard: string[] = [];
  await on.bus.listen(TokenChangedSchema, ({ tokenId }) => heard.push(tokenId));

  await on.accounts.revokeToken({ id: on.tokenId });
  await new Promise((resolve) => setImmediate(resolve));

  expect(heard).toEqual([on.tokenId]);
});

test('the metrics count money operations by outcome, and no label is an id', async () => {
  const on = await open(aConfig({ credit: '0.8' }));
  for (const taskId of ['task_1', 'task_1', 'task_2']) await on.billing.placeHold(order(on, taskId));
  await expect(on.billing.placeHold(order(on, 'task_3'))).rejects.toMatchObject({ reason: 'insufficient_quota' });
  await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 5n });
  await on.billing.settleHold({ taskId: 'task_2', totalSeconds: 500n });
  await on.billing.releaseHold({ taskId: 'task_4' });

  const text = await on.metrics.text();

  for (const line of [
    'holds_total{outcome="placed"} 2',
    'holds_total{outcome="repeated"} 1',
    'holds_total{outcome="insufficient_quota"} 1',
    'settlements_total{outcome="usage"} 1',
    'settlements_total{outcome="deferred"} 1',
    'releases_total{outcome="precluded"} 1',
  ]) {
    expect(text).toContain(`reelgate_billing_${line}`);
  }
  expect(text).not.toMatch(/task_|token_|demo/);
});

test('the metrics show held and charged money by the models of the configuration, each charge once', async () => {
  const on = await open({ ...aConfig(), models: { 'Alpha-H3': {} } });
  for (const taskId of ['task_1', 'task_2', 'task_3']) await on.billing.placeHold(order(on, taskId));
  await on.billing.placeHold(order(on, 'task_4', { priceKey: 'Alpha-H3__regeneration', resolution: '' }));
  for (const _ of [1, 2]) await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 3n });
  await on.billing.settleHold({ taskId: 'task_2' });
  await on.billing.settleHold({ taskId: 'task_3', totalSeconds: 500n });

  const lines = (await on.metrics.text()).split('\n').filter((line) => /^reelgate_(money|ledger)/.test(line));

  expect(lines).toEqual(
    expect.arrayContaining([
      'reelgate_money_held{model="Alpha-H3",currency="USD"} 0.65',
      'reelgate_money_settled_total{model="Alpha-H3",basis="usage",currency="USD"} 0.24',
      'reelgate_money_settled_total{model="Alpha-H3",basis="estimate",currency="USD"} 0.4',
      'reelgate_ledger_imbalance 0',
    ]),
  );
});

test.each([
  ['Alpha-H3', 'Alpha-H3'],
  ['Alpha-H3__context_ir', 'Alpha-H3'],
  ['a__b', 'a__b'],
  ['a__b__regeneration', 'a__b'],
  ["x' OR 1=1", 'removed'],
  ['__', 'removed'],
  ['', 'removed'],
])('the price key %j has the model %j in the metrics', (key, model) => {
  expect(toModelLabel(key, new Set(['Alpha-H3', 'a__b']))).toBe(model);
});
