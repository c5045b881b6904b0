import { expect, test } from '@jest/globals';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { CENT, DOLLAR, expectSound } from '../../../testing/books.ts';
import { CHAT_PRICES, HOUR_MS, callOrder, usedTokens } from '../../../testing/call-orders.ts';
import { floorToHour } from '../../domain/usage.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';
import type { MoneyHour } from '../../store/money/money-store.ts';
import { sqlMoneyStore } from '../../store/money/sql-money-store.ts';
import { moneyCounter } from './count-money.ts';

const DAY_MS = 24 * HOUR_MS;
const CONFIG = {
  ...aConfig({ prices: { ...PRICES, ...CHAT_PRICES } }),
  channels: [
    { id: 'north', models: { 'Alpha-H3': 'x' }, upstream_prices: { 'Alpha-H3': { per_second: '0.05' } } },
    { id: 'south', models: { 'Alpha-H3': 'x' } },
  ],
};
const PLACE = { channel: 'north', priceKey: 'Alpha-H3', currency: 'USD' };

const money = ({ accounts, clock }: TestBilling, ms = DAY_MS) =>
  accounts.getMoney({ from: timestampFromMs(clock.now() - ms), to: timestampFromMs(clock.now() + 1) });

async function settled(on: TestBilling, taskId: string, channel: string, seconds: bigint): Promise<void> {
  await on.billing.placeHold(order(on, taskId));
  await on.billing.settleHold({ taskId, totalSeconds: seconds, channel });
}

describeOnEngines('the money of all accounts', (open) => {
  test('is what they have and hold now, by currency', async () => {
    const on = await open({
      ...CONFIG,
      accounts: [...CONFIG.accounts, { id: 'eu', currency: 'EUR', credit: '7', tokens: [] }],
    });
    await on.billing.placeHold(order(on, 'task_1'));

    expect((await money(on)).held).toMatchObject([
      { currency: 'EUR', balanceNanos: 7n * DOLLAR, heldNanos: 0n, accounts: 1n },
      { currency: 'USD', balanceNanos: 100n * DOLLAR, heldNanos: 40n * CENT, accounts: 1n },
    ]);
    for (const size of [1, 2, 3])
      expect((await sqlMoneyStore(on.sql, size).accounts()).map(({ currency }) => currency)).toEqual(['EUR', 'USD']);
  });

  test('was settled in the hours of the period, by price key', async () => {
    const on = await open(CONFIG);
    await settled(on, 'task_1', 'north', 5n);
    await on.clock.advance(2 * DAY_MS);
    await settled(on, 'task_2', 'south', 5n);

    expect((await money(on, HOUR_MS)).settled).toMatchObject([
      { priceKey: 'Alpha-H3', currency: 'USD', requests: 1n, chargedNanos: 40n * CENT },
    ]);
    expect((await money(on, 3 * DAY_MS)).settled).toMatchObject([{ requests: 2n, chargedNanos: 80n * CENT }]);
    await expect(money(on, 31 * DAY_MS)).rejects.toMatchObject({ kind: 'invalid', field: 'to' });
  });

  test('is known from the first millisecond of 1970 on', async () => {
    const on = await open(CONFIG);
    const settledFrom = (ms: number) =>
      on.accounts.getMoney({ from: timestampFromMs(ms), to: timestampFromMs(ms + DAY_MS) });

    expect((await settledFrom(0)).settled).toEqual([]);
    await expect(settledFrom(-1)).rejects.toMatchObject({ kind: 'invalid', field: 'from' });
  });

  test('has a margin where the channel has a price, and counts what went over its hold', async () => {
    const on = await open(CONFIG);
    await settled(on, 'task_1', 'north', 5n);
    await settled(on, 'task_2', 'south', 6n);
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] });
    await on.calls.settleCalls({ ends: [usedTokens('call_1', 2000n, 2000n)] });
    const after = await on.restart();

    const { margins, overruns, overrunNanos, lapses } = await money(after);

    expect(margins).toMatchObject([{ ...PLACE, requests: 1n, chargedNanos: 40n * CENT, costNanos: 25n * CENT }]);
    expect({ overruns, overrunNanos, lapses }).toEqual({
      overruns: 2n,
      overrunNanos: 8n * CENT + CENT / 2n,
      lapses: 0n,
    });
  });

  test('counts calls that lapsed', async () => {
    const on = await open(CONFIG);
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] });
    await on.clock.advance(HOUR_MS);
    const after = await on.restart();

    expect(await money(after)).toMatchObject({ lapses: 1n, overruns: 0n });
  });

  test('says how the last check of the ledger ended, of which a hundred are kept', async () => {
    const on = await open(CONFIG);
    expect((await money(on)).lastCheck).toBeUndefined();
    for (let time = 0; time < 101; time += 1) await on.accounts.verifyLedger({ actor: 'ann' });
    await on.sql.write("UPDATE accounts SET held_nanos = 5 WHERE id = 'demo'", []);
    await on.accounts.verifyLedger({ actor: 'bob' });

    const { lastCheck } = await money(on);

    expect(lastCheck).toMatchObject({ ok: false, entries: 2n, actor: 'bob' });
    expect(lastCheck?.faults).toHaveLength(2);
    expect((await on.sql.read('SELECT id FROM ledger_checks')).length).toBe(100);
    expect((await on.accounts.listActs({ limit: 1 })).acts).toMatchObject([
      { actor: 'bob', action: 'ledger_verified', subject: 'ledger' },
    ]);
  });
});

describeOnEngines('the hours of the money', (open) => {
  test('are those of every process, and a repeated write changes nothing', async () => {
    const on = await open(CONFIG);
    const store = sqlMoneyStore(on.sql);
    // the worker of retention removes an older hour
    const hour = floorToHour(on.clock.now());
    const rows: MoneyHour[] = ['a', 'b'].map((process) => ({
      ...{ ...PLACE, hour, process, requests: 2n, charged: 3n * DOLLAR },
      ...{ cost: DOLLAR, reportedRequests: 1n, reportedCharged: DOLLAR, reportedCost: DOLLAR / 2n },
      ...{ uncostedRequests: 5n, uncostedCharged: 7n * CENT },
      ...{ overruns: 1n, overrun: 4n * 10n ** 18n, lapses: 0n },
    }));

    await store.write(rows);
    await store.write(rows);

    expect(await store.counted({ from: hour, to: hour + 1 })).toEqual([
      {
        ...PLACE,
        requests: 4n,
        charged: 6n * DOLLAR,
        cost: 2n * DOLLAR,
        reportedRequests: 2n,
        reportedCharged: 2n * DOLLAR,
        reportedCost: DOLLAR,
        uncostedRequests: 10n,
        uncostedCharged: 14n * CENT,
        overruns: 2n,
        overrun: 8n * 10n ** 18n,
        lapses: 0n,
      },
    ]);
    await on.accounts.verifyLedger({});
    await expectSound(on);
  });
});

test('a count is written again after a write that failed, with what came meanwhile', async () => {
  const writes: bigint[][] = [];
  const clock = fakeClock();
  const counter = moneyCounter(
    {
      write: async (hours) => {
        writes.push(hours.map(({ requests }) => requests));
        if (writes.length === 1) throw new Error('away');
        if (writes.length === 2) counter.margin(PLACE, 1n, { amount: 1n, source: 'estimated' });
      },
    },
    { clock, process: 'a' },
  );
  counter.margin(PLACE, 1n, { amount: 1n, source: 'estimated' });

  await expect(counter.write()).rejects.toThrow('away');
  for (let time = 0; time < 3; time += 1) await counter.write();
  await clock.advance(HOUR_MS);
  counter.margin(PLACE, 1n, { amount: 1n, source: 'estimated' });
  await counter.write();

  expect(writes).toEqual([[1n], [1n], [2n], [1n]]);
});
