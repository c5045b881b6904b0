import { expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import { books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';
import type { Hold } from '../../domain/hold.ts';
import { sqlHoldStore } from './sql-hold-store.ts';
import type { HoldStore } from './hold-store.ts';

const NONE = { inputVideoSeconds: 0n, images: 0n, inputTokens: 0n, cachedInputTokens: 0n, outputTokens: 0n };

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

/** The holds of the service's database, and the number of transactions that they took. */
function counted({ sql }: TestBilling): { readonly holds: HoldStore; readonly transactions: () => number } {
  let transactions = 0;
  const transaction: Sql['transaction'] = (work) => {
    transactions += 1;
    return sql.transaction(work);
  };
  return { holds: sqlHoldStore({ ...sql, transaction }), transactions: () => transactions };
}

describeOnEngines('holds of one moment', (open) => {
  test('share one transaction', async () => {
    const on = await open();
    const { holds, transactions } = counted(on);

    const placed = await Promise.all(Array.from({ length: 30 }, (_, index) => holds.place(aHold(on, `task_${index}`))));

    expect(transactions()).toBe(1);
    expect(placed.map(({ isNew }) => isNew)).toEqual(Array.from({ length: 30 }, () => true));
    expect(placed[7]).toMatchObject({ record: { state: 'open', hold: { taskId: 'task_7', amount: 1000n } } });
    expect(await books(on)).toMatchObject({ held: 30_000n, used: 30_000n });
    await expectSound(on);
  });

  test('for one task are one hold, which only the first of them has placed', async () => {
    const on = await open();
    const { holds } = counted(on);

    const placed = await Promise.all(Array.from({ length: 5 }, () => holds.place(aHold(on, 'task_1'))));

    expect(placed.map(({ isNew }) => isNew)).toEqual([true, false, false, false, false]);
    expect(await books(on)).toMatchObject({ held: 1000n, used: 1000n });
    await expectSound(on);
  });

  test('find the records that others of them have, among them a void', async () => {
    const on = await open();
    const { holds } = counted(on);
    await holds.place(aHold(on, 'task_1'));
    await holds.preclude('task_2', 1);

    const placed = await Promise.all(['task_1', 'task_2', 'task_3'].map((taskId) => holds.place(aHold(on, taskId))));

    expect(placed.map(({ record, isNew }) => [record.state, isNew])).toEqual([
      ['open', false],
      ['void', false],
      ['open', true],
    ]);
    expect(await books(on)).toMatchObject({ held: 2000n, used: 2000n });
    await expectSound(on);
  });

  test('are kept for the callers that stay, also of a task that another caller has left', async () => {
    const on = await open();
    const { holds } = counted(on);
    const leaving = new AbortController();
    const gone = AbortSignal.abort(new Error('gone'));

    const outcomes = Promise.allSettled([
      holds.place(aHold(on, 'task_1'), leaving.signal),
      holds.place(aHold(on, 'task_1')),
      holds.place(aHold(on, 'task_2'), leaving.signal),
      holds.place(aHold(on, 'task_3'), gone),
    ]);
    leaving.abort(new Error('left'));

    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'rejected']);
    expect(await holds.find('task_2')).toBeUndefined();
    expect(await books(on)).toMatchObject({ held: 1000n, used: 1000n });
    await expectSound(on);
  });

  test('leave nothing for a caller that leaves while they are written', async () => {
    const on = await open();
    const leaving = new AbortController();
    const transaction: Sql['transaction'] = (work) =>
      on.sql.transaction(async (query) => {
        const leavingQuery = Object.assign(
          (async (text, values) => {
            if (text.startsWith('UPDATE tokens')) leaving.abort(new Error('left'));
            return query(text, values);
          }) as typeof query,
          { changes: query.changes },
        );
        return work(leavingQuery);
      });
    const holds = sqlHoldStore({ ...on.sql, transaction });

    const outcomes = await Promise.allSettled([
      holds.place(aHold(on, 'task_1'), leaving.signal),
      holds.place(aHold(on, 'task_2')),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await holds.find('task_1')).toBeUndefined();
    expect(await books(on)).toMatchObject({ held: 1000n, used: 1000n });
    await expectSound(on);
  });
});
