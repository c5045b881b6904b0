import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { MarginBucket, MarginSplit } from '@reelgate/proto/billing/v1/account_service';
import type { MarginGroup } from '@reelgate/proto/billing/v1/money';
import { CENT, expectSound } from '../../../testing/books.ts';
import { CHAT_PRICES, HOUR_MS, callOrder, usedTokens } from '../../../testing/call-orders.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';
import { sqlMarginStore } from '../../store/money/sql-money-store.ts';

const DAY_MS = 24 * HOUR_MS;
const NORTH = { id: 'north', models: { 'Alpha-H3': 'x' }, upstream_prices: { 'Alpha-H3': { per_second: '0.05' } } };
const TEXT = {
  id: 'text',
  models: { chat: 'x' },
  upstream_prices: { chat: { per_million_tokens: { input: '0.5', output: '2' }, hold: '0.004' } },
};
const CONFIG = {
  ...aConfig({ prices: { ...PRICES, ...CHAT_PRICES } }),
  models: { 'Alpha-H3': {}, chat: {} },
  channels: [NORTH, { id: 'south', models: { 'Alpha-H3': 'x' } }, TEXT],
};
/** 0.30 dollars. */
const REPORTED = 300_000n;

type Options = Partial<{ split: MarginSplit; bucket: MarginBucket; limit: number; key: string; days: number }>;

/** The margins of the last days. What a process has counted is written at its end. */
async function read(
  { accounts, clock }: TestBilling,
  { split = MarginSplit.CHANNEL, bucket = MarginBucket.DAY, limit = 0, key = '', days = 3 }: Options = {},
) {
  const period = { from: timestampFromMs(clock.now() - days * DAY_MS), to: timestampFromMs(clock.now() + 1) };
  return accounts.getMargins({ ...period, splitBy: split, bucket, limit, key });
}

/** The sums of a group in cents: with a known cost, of which reported, and without. */
const sumsOf = ({ total }: MarginGroup) => {
  const { requests, chargedNanos, costNanos, reportedRequests, reportedChargedNanos, reportedCostNanos } = total!;
  return {
    known: [requests, chargedNanos / CENT, costNanos / CENT],
    reported: [reportedRequests, reportedChargedNanos / CENT, reportedCostNanos / CENT],
    unknown: [total!.uncostedRequests, total!.uncostedChargedNanos / CENT],
  };
};

interface Ended {
  readonly channel?: string;
  readonly cost?: bigint;
}

async function settle(on: TestBilling, taskId: string, { channel = 'north', cost }: Ended = {}): Promise<void> {
  await on.billing.placeHold(order(on, taskId));
  await on.billing.settleHold({ taskId, channel, ...(cost === undefined ? {} : { upstreamCostMicroUsd: cost }) });
}

/** One task whose cost is reported, one whose cost is estimated, and one whose cost is not known. */
async function settleOneOfEach(on: TestBilling): Promise<void> {
  await settle(on, 'task_1', { cost: REPORTED });
  await settle(on, 'task_2');
  await settle(on, 'task_3', { channel: 'south' });
}

const ALL_THREE = { known: [2n, 80n, 55n], reported: [1n, 40n, 30n], unknown: [1n, 40n] };

describeOnEngines('the margins of a period', (open) => {
  test('by channel distinguish measured, estimated and unknown costs', async () => {
    const on = await open(CONFIG);
    await settleOneOfEach(on);

    const { groups } = await read(await on.restart());

    expect(groups.map((group) => [group.key, group.currency, sumsOf(group)])).toEqual([
      ['north', 'USD', { known: [2n, 80n, 55n], reported: [1n, 40n, 30n], unknown: [0n, 0n] }],
      ['south', 'USD', { known: [0n, 0n, 0n], reported: [0n, 0n, 0n], unknown: [1n, 40n] }],
    ]);
  });

  test('by model sum every price key of the model', async () => {
    const on = await open(CONFIG);
    await settleOneOfEach(on);
    await on.billing.placeHold(order(on, 'task_4', { priceKey: 'Alpha-H3__regeneration', resolution: '' }));
    await on.billing.settleHold({ taskId: 'task_4', channel: 'north' });

    const { groups } = await read(await on.restart(), { split: MarginSplit.MODEL });

    expect(groups.map((group) => [group.key, sumsOf(group)])).toEqual([
      ['Alpha-H3', { ...ALL_THREE, unknown: [2n, 65n] }],
    ]);
  });

  test('by account are written with each settlement, so that a killed process loses none', async () => {
    const on = await open(CONFIG);
    await settleOneOfEach(on);

    const { groups } = await read(on, { split: MarginSplit.ACCOUNT });

    expect(groups.map((group) => [group.key, sumsOf(group)])).toEqual([['demo', ALL_THREE]]);
    await expectSound(on);
  });

  test('by account have calls, and count a repeated end once', async () => {
    const on = await open(CONFIG);
    await on.calls.placeCalls({ calls: ['call_1', 'call_2'].map((id) => callOrder(on, id)) });
    const end = { ...usedTokens('call_1', 100_000n, 100_000n), channel: 'text' };
    await on.calls.settleCalls({ ends: [end, { ...usedTokens('call_2', 1000n, 1000n), channel: '' }] });
    await on.calls.settleCalls({ ends: [end] });

    const { groups } = await read(on, { split: MarginSplit.ACCOUNT });

    expect(groups.map(sumsOf)).toEqual([{ known: [1n, 5n, 25n], reported: [0n, 0n, 0n], unknown: [1n, 0n] }]);
  });

  test.each([MarginSplit.CHANNEL, MarginSplit.MODEL, MarginSplit.ACCOUNT])(
    'have a failed task that its upstream charged as a loss, once (split %d)',
    async (split) => {
      const on = await open(CONFIG);
      await on.billing.placeHold(order(on, 'task_1'));
      for (let time = 0; time < 2; time += 1)
        await on.billing.releaseHold({ taskId: 'task_1', channel: 'north', upstreamCostMicroUsd: REPORTED });
      await on.billing.placeHold(order(on, 'task_2'));
      await on.billing.releaseHold({ taskId: 'task_2', channel: 'north' });

      const after = await on.restart();
      const { groups } = await read(after, { split });

      expect(groups.map(sumsOf)).toEqual([{ known: [1n, 0n, 30n], reported: [1n, 0n, 30n], unknown: [0n, 0n] }]);
      await expectSound(after);
    },
  );

  test('lie in the hours and days of their settlement', async () => {
    const on = await open(CONFIG);
    await settle(on, 'task_1');
    await on.clock.advance(2 * HOUR_MS);
    await settle(on, 'task_2');
    const { accounts, clock } = await on.restart();
    const times = async (splitBy: MarginSplit, bucket: MarginBucket) => {
      const period = { from: timestampFromMs(clock.now() - DAY_MS), to: timestampFromMs(clock.now() + 1) };
      const { groups } = await accounts.getMargins({ ...period, splitBy, bucket });
      return groups.flatMap(({ parts }) => parts.map(({ beginsAt, sum }) => [timestampMs(beginsAt!), sum!.requests]));
    };
    const hour = clock.now() - (clock.now() % HOUR_MS);

    for (const split of [MarginSplit.CHANNEL, MarginSplit.ACCOUNT]) {
      expect(await times(split, MarginBucket.HOUR)).toEqual([
        [hour - 2 * HOUR_MS, 1n],
        [hour, 1n],
      ]);
      const days = await times(split, MarginBucket.DAY);
      expect(days.every(([at]) => Number(at) % DAY_MS === 0)).toBe(true);
      expect(days.reduce((sum, [, requests = 0n]) => sum + BigInt(requests), 0n)).toBe(2n);
    }
  });

  test('name the largest groups, and all others are one', async () => {
    const on = await open(CONFIG);
    await settleOneOfEach(on);
    await settle(on, 'task_4', { channel: 'south' });
    await settle(on, 'task_5', { channel: 'west' });

    const { groups } = await read(await on.restart(), { limit: 1 });

    expect(groups.map(({ key, rest, total }) => [key, rest, total!.uncostedRequests])).toEqual([
      ['north', false, 0n],
      ['', true, 3n],
    ]);
  });

  test('of one group are those of it alone', async () => {
    const on = await open(CONFIG);
    await settleOneOfEach(on);

    const after = await on.restart();

    for (const [split, key] of [
      [MarginSplit.CHANNEL, 'south'],
      [MarginSplit.ACCOUNT, 'demo'],
    ] as const)
      expect((await read(after, { split, key })).groups.map((group) => group.key)).toEqual([key]);
    expect((await read(after, { split: MarginSplit.ACCOUNT, key: 'other' })).groups).toEqual([]);
  });

  test('are refused where the period is too long for its parts', async () => {
    const on = await open(CONFIG);

    await expect(read(on, { split: MarginSplit.ACCOUNT, bucket: MarginBucket.HOUR, days: 4 })).rejects.toMatchObject({
      kind: 'invalid',
      field: 'to',
    });
    await expect(read(on, { split: MarginSplit.ACCOUNT, days: 92 })).rejects.toMatchObject({ field: 'to' });
    expect((await read(on, { split: MarginSplit.ACCOUNT, days: 91 })).groups).toEqual([]);
  });
});

describeOnEngines('the margins after a rebuild', (open) => {
  test('keep their costs by account when the hours of usage are rebuilt', async () => {
    const on = await open(CONFIG);
    await settleOneOfEach(on);
    await on.sql.write('UPDATE usage_hours SET charged_nanos = charged_nanos - 1');
    await on.accounts.rebuildBalances({});

    expect((await read(on, { split: MarginSplit.ACCOUNT })).groups.map(sumsOf)).toEqual([ALL_THREE]);
    await expectSound(on);
  });
});

describeOnEngines('the margins of many accounts', (open) => {
  const ACCOUNTS = ['a', 'b', 'c', 'd', 'e'];
  const withAccounts = () =>
    open({
      ...CONFIG,
      accounts: ACCOUNTS.map((id, at) => ({
        ...{ id, currency: at % 2 === 0 ? 'USD' : 'EUR', credit: '50' },
        tokens: [{ key: `sk-${id}-a-key-of-the-tests`, models: ['*'] }],
      })),
    });

  test('are read in parts of any size, and currencies stay apart', async () => {
    const on = await withAccounts();
    for (const accountId of ACCOUNTS) {
      const { principal } = await on.billing.authenticate({ key: `sk-${accountId}-a-key-of-the-tests` });
      const taskId = `task_${accountId}`;
      await on.billing.placeHold({ ...order({ tokenId: principal!.tokenId }, taskId), accountId });
      await on.billing.settleHold({ taskId, channel: 'north', upstreamCostMicroUsd: REPORTED });
    }
    const span = { from: 0, to: on.clock.now() + HOUR_MS, bucket: 'hour' } as const;

    for (const size of [1, 2, 3, 100]) {
      const keys: string[] = [];
      for await (const rows of sqlMarginStore(on.sql, size).ofAccounts(span))
        for (const { key, currency, cost } of rows) keys.push(`${key} ${currency} ${cost / CENT}`);
      expect(keys.toSorted()).toEqual(['a USD 30', 'b EUR 25', 'c USD 30', 'd EUR 25', 'e USD 30']);
    }
    const { groups } = await read(on, { split: MarginSplit.ACCOUNT, limit: 1 });
    expect(groups.map(({ key, rest, currency, total }) => [key, rest, currency, total!.requests])).toEqual([
      ['b', false, 'EUR', 1n],
      ['', true, 'EUR', 1n],
      ['a', false, 'USD', 1n],
      ['', true, 'USD', 2n],
    ]);
  });
});
