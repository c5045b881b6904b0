import { expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import { books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';
import { NOTHING_REPORTED } from '../../domain/hold.ts';
import type { Hold } from '../../domain/hold.ts';
import type { CostedDecision } from '../../domain/settlement.ts';
import { sqlHoldStore } from './sql-hold-store.ts';
import type { HoldStore } from './hold-store.ts';

const NONE = { inputVideoSeconds: 0n, images: 0n, inputTokens: 0n, cachedInputTokens: 0n, outputTokens: 0n };
const charge = (amount: bigint): CostedDecision => ({
  kind: 'charge',
  amount,
  basis: 'usage',
  usage: NOTHING_REPORTED,
});
const SETTLE = charge(400n);
const RELEASE: CostedDecision = { kind: 'release' };
const DEFER: CostedDecision = { kind: 'defer', amount: 9000n };
const HOUR_MS = 3_600_000;

const aHold = ({ tokenId }: TestBilling, taskId: string): Hold => ({
  taskId,
  accountId: 'demo',
  tokenId,
  amount: 1000n,
  currency: 'USD',
  priceVersion: 1,
  placedAt: 1,
  facts: { ...NONE, priceKey: 'Alpha-H3', resolution: '768P', seconds: 5n, characters: 0n },
});

interface CountedHolds {
  readonly holds: HoldStore;
  readonly transactions: () => number;
}

/** The holds of the service's database with one for each task, and the number of transactions since then. */
async function withHolds(on: TestBilling, tasks: number): Promise<CountedHolds> {
  let transactions = 0;
  const transaction: Sql['transaction'] = (work) => {
    transactions += 1;
    return on.sql.transaction(work);
  };
  const holds = sqlHoldStore({ ...on.sql, transaction });
  for (let task = 0; task < tasks; task += 1) await holds.place(aHold(on, `task_${task}`));
  transactions = 0;
  return { holds, transactions: () => transactions };
}

describeOnEngines('holds that end at one moment', (open) => {
  test('share one transaction, and their sums change once', async () => {
    const on = await open();
    const { holds, transactions } = await withHolds(on, 8);

    const ended = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        holds.end(`task_${index}`, index * HOUR_MS, () => (index < 5 ? SETTLE : RELEASE), false),
      ),
    );

    expect(transactions()).toBe(1);
    expect(ended.every((outcome) => outcome?.isNew)).toBe(true);
    expect(await books(on)).toMatchObject({ held: 0n, used: 2000n });
    expect(await on.sql.read('SELECT CAST(SUM(requests) AS BIGINT) AS requests FROM usage_hours')).toEqual([
      { requests: 5 },
    ]);
    await expectSound(on);
  });

  test('decide one after the other on the same hold', async () => {
    const on = await open();
    const { holds } = await withHolds(on, 1);

    const ended = await Promise.all(
      [DEFER, SETTLE, RELEASE].map((decision) => holds.end('task_0', 5, () => decision, false)),
    );

    expect(ended.map((outcome) => [outcome?.record.state, outcome?.isNew])).toEqual([
      ['open', true],
      ['ended', true],
      ['ended', false],
    ]);
    expect(await holds.find('task_0')).toMatchObject({ settlement: { amount: 400n, basis: 'usage' } });
    expect(await books(on)).toMatchObject({ held: 0n, used: 400n });
    await expectSound(on);
  });

  test('are not refused because another one is, or has no record', async () => {
    const on = await open();
    const { holds } = await withHolds(on, 2);
    const refuse = (): never => {
      throw new Error('refused');
    };

    const ended = await Promise.allSettled([
      holds.end('task_0', 5, refuse, false),
      holds.end('task_1', 5, () => SETTLE, false),
      holds.end('task_2', 5, () => SETTLE, false),
    ]);

    expect(ended).toMatchObject([
      { status: 'rejected', reason: { message: 'refused' } },
      { status: 'fulfilled', value: { isNew: true } },
      { status: 'fulfilled', value: undefined },
    ]);
    expect(await holds.find('task_0')).toMatchObject({ state: 'open' });
    expect(await books(on)).toMatchObject({ held: 1000n, used: 1400n });
    await expectSound(on);
  });

  test('end alone if the transaction of all cannot be written', async () => {
    const on = await open();
    const { holds } = await withHolds(on, 3);
    await on.sql.write('UPDATE holds SET max_amount_nanos = $1 WHERE task_id = $2', [1000, 'task_1']);
    const above = charge(2000n);

    const ended = await Promise.allSettled([0, 1, 2].map((index) => holds.end(`task_${index}`, 5, () => above, false)));

    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await holds.find('task_1')).toMatchObject({ state: 'open' });
    expect(await books(on)).toMatchObject({ held: 1000n, used: 5000n });
    await expectSound(on);
  });
});
