import { expect, test } from '@jest/globals';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { until } from '@reelgate/platform/testing/until';
import { CENT, DOLLAR } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { aConfig, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';
import { sqlLowAccounts } from '../../store/accounts/sql-low-accounts.ts';
import { lowAccounts } from './watch-low-accounts.ts';

/** What the gauge shows after each of some passes, each of which reads a page. */
async function shownAfter({ sql, clock }: TestBilling, passes: number, page: number): Promise<string[]> {
  const metrics = newMetrics(false);
  const pass = lowAccounts({ store: sqlLowAccounts(sql, page), announce: async () => undefined, metrics, clock });
  const shown: string[] = [];
  for (let each = 0; each < passes; each += 1) {
    await pass();
    shown.push(/^reelgate_accounts_low (\d+)$/m.exec(await metrics.text())?.[1] ?? 'absent');
  }
  return shown;
}

/** The account `demo` with this credit, and two accounts with all of theirs. */
const among = (credit: string): ReturnType<typeof aConfig> => {
  const value = aConfig({ credit });
  const other = (id: string): object => ({ id, currency: 'USD', credit: '5.00', upstream_accounts: [], tokens: [] });
  return { ...value, accounts: [other('a'), ...value.accounts, other('z')] };
};

const credit = async (on: TestBilling, amountNanos: bigint): Promise<void> => {
  await on.clock.advance(1);
  await on.accounts.creditAccount({ id: 'demo', amountNanos, reason: 'invoice 7', actor: 'ann' });
};
const spend = async (on: TestBilling, taskId: string, seconds: bigint): Promise<void> => {
  await on.billing.placeHold(order(on, taskId, { seconds }));
  await on.billing.settleHold({ taskId, totalSeconds: seconds });
};

describeOnEngines('the count of accounts with little money left', (open) => {
  // A second costs eight cents.
  test.each<[string, string, (on: TestBilling) => Promise<unknown>, '0' | '1']>([
    ['has no account with all of its credit', '1.00', async () => undefined, '0'],
    ['has no account with a tenth of its credit', '0.80', (on) => spend(on, 't', 9n), '0'],
    ['has an account with less than a tenth of its credit', '1.00', (on) => spend(on, 't', 12n), '1'],
    ['takes off what is held', '1.00', (on) => on.billing.placeHold(order(on, 't', { seconds: 12n })), '1'],
    [
      'compares with the last credit, not with all of them',
      '100.00',
      async (on) => {
        await spend(on, 't', 1200n);
        await credit(on, DOLLAR);
      },
      '0',
    ],
    [
      'has an account whose last credit is spent',
      '0.00',
      async (on) => {
        await credit(on, 4n * CENT);
        await credit(on, DOLLAR);
        await spend(on, 't', 12n);
      },
      '1',
    ],
    ['does not take money that was taken back for a credit', '1.00', (on) => credit(on, -95n * CENT), '1'],
    ['has no account that never had a credit', '0.00', async () => undefined, '0'],
    ['has an account below zero', '0.00', (on) => credit(on, -CENT), '1'],
  ])('%s', async (_what, initial, work, low) => {
    const on = await open(among(initial));
    await work(on);

    expect(await shownAfter(on, 1, 10)).toEqual([low]);
  });

  test('is shown when all pages are counted, and stays until the next count has ended', async () => {
    const on = await open(among('0.00'));
    await credit(on, -CENT);

    expect(await shownAfter(on, 5, 2)).toEqual(['absent', '1', '1', '1', '1']);
  });

  test('is shown by the running service', async () => {
    const on = await open(among('0.00'));

    await until(async () => /^reelgate_accounts_low 0$/m.test(await on.metrics.text()));
  });
});
