import { expect, test } from '@jest/globals';
import { DOLLAR, books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { order } from '../../../testing/open-billing.ts';

describeOnEngines('a task whose hold is precluded', (open) => {
  test('can get no hold if it has none, however often the call is repeated', async () => {
    const on = await open();

    expect(await on.billing.precludeHold({ taskId: 'task_1' })).toMatchObject({ precluded: true });
    expect(await on.billing.precludeHold({ taskId: 'task_1' })).toMatchObject({ precluded: true });

    await expect(on.billing.placeHold(order(on, 'task_1'))).rejects.toMatchObject({ reason: 'hold_voided' });
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 0n, used: 0n });
    await expectSound(on);
  });

  test('keeps the hold that it has, open or ended', async () => {
    const on = await open();
    for (const taskId of ['task_1', 'task_2']) await on.billing.placeHold(order(on, taskId));
    const { settlement } = await on.billing.settleHold({ taskId: 'task_2', totalSeconds: 5n });
    const before = await books(on);

    for (const taskId of ['task_1', 'task_2'])
      expect(await on.billing.precludeHold({ taskId })).toMatchObject({ precluded: false });

    expect(await books(on)).toEqual(before);
    expect(await on.billing.getHold({ taskId: 'task_1' })).not.toHaveProperty('settlement');
    expect((await on.billing.getHold({ taskId: 'task_2' })).settlement).toEqual(settlement);
    await expectSound(on);
  });

  test('has either the hold or the void of two calls at the same moment', async () => {
    const on = await open();
    const tasks = Array.from({ length: 40 }, (_, index) => `task_${index}`);

    const precluded = await Promise.all(
      tasks.map(async (taskId) => {
        const [, answer] = await Promise.all([
          on.billing.placeHold(order(on, taskId)).catch(() => undefined),
          on.billing.precludeHold({ taskId }),
        ]);
        return answer.precluded;
      }),
    );

    for (const [index, taskId] of tasks.entries())
      expect((await on.billing.getHold({ taskId })).hold === undefined).toBe(precluded[index]);
    await expectSound(on);
  });
});
