import { expect, test } from '@jest/globals';
import { runChecks } from '@reelgate/platform/diagnosis/self-checks';
import type { Finding } from '@reelgate/platform/diagnosis/self-checks';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { CHAT_PRICES, callOrder, usedTokens } from '../../testing/call-orders.ts';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import type { Open } from '../../testing/describe-on-engines.ts';
import { PRICES, aConfig, order } from '../../testing/open-billing.ts';
import type { TestBilling } from '../../testing/open-billing.ts';
import { sqlLedgerCheck } from '../store/ledger/sql-ledger-checks.ts';
import { ledgerCheck, ledgerSelfCheck } from './check-ledger.ts';

const PAGE = 3;

interface Checked {
  readonly on: TestBilling;
  /** The gauge after each of some passes. */
  passes(count: number): Promise<number[]>;
  checkedAt(): Promise<number>;
  /** What the doctor hears of it. */
  check(): Promise<Finding>;
}

/** Nine events of tasks and calls, and a void without lines. */
async function checkedBooks(open: Open): Promise<Checked> {
  const on = await open(aConfig({ prices: { ...PRICES, ...CHAT_PRICES } }));
  await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] });
  await on.calls.settleCalls({ ends: [usedTokens('call_1', 1000n, 0n)] });
  for (const taskId of ['task_1', 'task_2', 'task_3']) await on.billing.placeHold(order(on, taskId));
  for (const taskId of ['task_1', 'task_2', 'task_3']) await on.billing.settleHold({ taskId, totalSeconds: 6n });
  await on.billing.releaseHold({ taskId: 'task_4' });
  const [clock, metrics] = [fakeClock(5000), newMetrics(false)];
  const { pass, findings } = ledgerCheck({ checkPage: sqlLedgerCheck(on.sql, PAGE), metrics, clock, log: silentLog });
  const shown = async (name: string): Promise<number> =>
    Number(new RegExp(`^reelgate_ledger_${name} (\\d+)$`, 'm').exec(await metrics.text())?.[1]);
  return {
    on,
    check: async () => (await runChecks([ledgerSelfCheck(findings, clock)], clock))[0]!,
    checkedAt: () => shown('checked_timestamp_seconds'),
    passes: async (count) => {
      const seen: number[] = [];
      for (let each = 0; each < count; each += 1) {
        await pass();
        seen.push(await shown('imbalance'));
      }
      return seen;
    },
  };
}

describeOnEngines('the check of the ledger', (open) => {
  test('finds nothing in sound books, and says when a round has ended', async () => {
    const { passes, checkedAt, check } = await checkedBooks(open);

    expect(await passes(3)).toEqual([0, 0, 0]);
    expect(await check()).toMatchObject({ grade: 'ok', detail: expect.stringContaining('has not ended') });
    expect(await checkedAt()).toBe(0);
    expect(await passes(1)).toEqual([0]);
    expect(await checkedAt()).toBe(5);
  });

  test.each([
    [
      'a line with another amount',
      "UPDATE ledger_lines SET amount_nanos = amount_nanos + 1 WHERE event_key LIKE 'settle_calls:%' AND book = 'revenue'",
    ],
    ['a missing line', "DELETE FROM ledger_lines WHERE event_key LIKE 'hold_calls:%' AND book LIKE 'held:%'"],
    ['no lines at all', "DELETE FROM ledger_lines WHERE event_key LIKE 'settle_calls:%'"],
    [
      'a line in another currency',
      "UPDATE ledger_lines SET currency = 'EUR' WHERE event_key LIKE 'hold_calls:%' AND book LIKE 'held:%'",
    ],
  ])('finds %s within a round, and shows it until a round finds none', async (_which, damage) => {
    const { on, passes, check } = await checkedBooks(open);
    const before = await on.sql.read<{ event_key: string; book: string; currency: string; amount_nanos: number }>(
      'SELECT event_key, book, currency, amount_nanos FROM ledger_lines',
    );
    await on.sql.write(damage);

    expect((await passes(4)).at(-1)).toBe(1);
    expect(await check()).toMatchObject({
      grade: 'fail',
      detail: 'found events of the ledger that do not balance: 1; its last round ended 0 minutes ago',
      advice: expect.stringContaining('reelgate ledger verify'),
    });
    await on.sql.write('DELETE FROM ledger_lines');
    for (const { event_key: key, book, currency, amount_nanos: nanos } of before)
      await on.sql.write('INSERT INTO ledger_lines (event_key, book, currency, amount_nanos) VALUES ($1, $2, $3, $4)', [
        key,
        book,
        currency,
        nanos,
      ]);
    expect(await passes(4)).toEqual([1, 1, 1, 1]);
    expect(await passes(1)).toEqual([0]);
  });

  test('finds a fault of the newest tasks in the first pass', async () => {
    const { on, passes } = await checkedBooks(open);
    await on.sql.write("DELETE FROM ledger_lines WHERE event_key = 'settle:task_3' AND book = 'revenue'");

    expect(await passes(1)).toEqual([1]);
  });
});
