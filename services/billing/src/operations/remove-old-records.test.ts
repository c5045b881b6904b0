import { expect, test } from '@jest/globals';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { HOUR_MS } from '../../testing/call-orders.ts';
import { sqlActs } from '../store/acts/sql-acts.ts';
import { sqlMoneyStore } from '../store/money/sql-money-store.ts';
import { sqlSessionStore } from '../store/sessions/sql-session-store.ts';
import { countMargin } from '../domain/margin.ts';
import { removeOldRecords } from './remove-old-records.ts';

const DAY_MS = 24 * HOUR_MS;
const A_COUNT = {
  ...countMargin(1n, { amount: 1n, source: 'reported' }),
  overruns: 0n,
  overrun: 0n,
  lapses: 0n,
};
const A_PLACE = { channel: 'north', priceKey: 'Alpha-H3', currency: 'USD' };

describeOnEngines('old records', (open) => {
  test('are removed when they are no longer kept: hours of the money after 92 days, acts after 400', async () => {
    const on = await open();
    const deps = {
      acts: sqlActs(on.sql),
      money: sqlMoneyStore(on.sql),
      sessions: sqlSessionStore(on.sql),
      clock: on.clock,
    };
    const hour = on.clock.now() - (on.clock.now() % HOUR_MS);
    await deps.money.write([{ ...A_PLACE, ...A_COUNT, hour, process: 'a' }]);
    await on.accounts.creditAccount({ id: 'demo', amountNanos: 1n, reason: 'test' });
    const kept = async () => [
      (await deps.money.counted({ from: hour, to: hour + 1 })).length,
      (await on.accounts.listActs({})).acts.length,
    ];
    const after = async (ms: number) => {
      await removeOldRecords({ ...deps, clock: { ...on.clock, now: () => hour + ms } });
      return kept();
    };

    expect(await after(92 * DAY_MS)).toEqual([1, 1]);
    expect(await after(92 * DAY_MS + HOUR_MS)).toEqual([0, 1]);
    expect(await after(400 * DAY_MS)).toEqual([0, 1]);
    expect(await after(401 * DAY_MS)).toEqual([0, 0]);
  });
});
