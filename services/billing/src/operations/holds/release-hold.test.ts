import { expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { CENT, DOLLAR, books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { order } from '../../../testing/open-billing.ts';

describeOnEngines('the end of a hold', (open) => {
  test('happens once: the first of release and settlement wins', async () => {
    const on = await open();
    for (const taskId of ['task_1', 'task_2']) await on.billing.placeHold(order(on, taskId));
    const { settlement: charged } = await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 5n });
    const { settlement: released } = await on.billing.releaseHold({ taskId: 'task_2' });
    await on.clock.advance(1000);

    expect((await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 9n, confirmed: true })).settlement).toEqual(
      charged,
    );
    expect((await on.billing.releaseHold({ taskId: 'task_1' })).settlement).toEqual(charged);
    expect((await on.billing.settleHold({ taskId: 'task_2', totalSeconds: 9n })).settlement).toEqual(released);
    expect((await on.billing.releaseHold({ taskId: 'task_2' })).settlement).toEqual(released);
    expect(released).toMatchObject({ amountNanos: 0n, basis: Basis.RELEASED });
    expect(await books(on)).toEqual({ balance: 9960n * CENT, held: 0n, used: 40n * CENT });
    await expect(on.billing.placeHold(order(on, 'task_2'))).rejects.toMatchObject({
      kind: 'conflict',
      reason: 'hold_voided',
    });
    await expectSound(on);
  });

  test('happens once when all calls run at the same time', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));

    const settlements = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const answer =
          index % 3 === 0
            ? await on.billing.releaseHold({ taskId: 'task_1' })
            : await on.billing.settleHold({ taskId: 'task_1', totalSeconds: BigInt(index) });
        return answer.settlement;
      }),
    );

    for (const settlement of settlements) expect(settlement).toEqual(settlements[0]);
    expect(await books(on)).toMatchObject({ held: 0n });
    await expectSound(on);
  });

  test('before the hold prevents the hold', async () => {
    const on = await open();
    const { settlement } = await on.billing.releaseHold({ taskId: 'task_1' });

    await expect(on.billing.placeHold(order(on, 'task_1'))).rejects.toMatchObject({
      kind: 'conflict',
      reason: 'hold_voided',
    });

    expect(settlement).toMatchObject({ amountNanos: 0n, basis: Basis.RELEASED });
    expect((await on.billing.releaseHold({ taskId: 'task_1' })).settlement).toEqual(settlement);
    expect((await on.billing.settleHold({ taskId: 'task_1' })).settlement).toEqual(settlement);
    expect(await on.billing.getHold({ taskId: 'task_1' })).not.toHaveProperty('hold');
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 0n, used: 0n });
    await expectSound(on);
  });

  test('at the same moment as the hold leaves one of the two', async () => {
    const on = await open();
    const tasks = Array.from({ length: 40 }, (_, index) => `task_${index}`);

    await Promise.all(
      tasks.map(async (taskId) =>
        Promise.allSettled([on.billing.placeHold(order(on, taskId)), on.billing.releaseHold({ taskId })]),
      ),
    );

    for (const taskId of tasks) {
      expect((await on.billing.getHold({ taskId })).settlement).toMatchObject({
        basis: Basis.RELEASED,
        amountNanos: 0n,
      });
    }
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 0n, used: 0n });
    await expectSound(on);
  });
});
