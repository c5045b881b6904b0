import { expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { CENT, DOLLAR, books, expectSound } from '../../testing/books.ts';
import { opener } from '../../testing/describe-on-engines.ts';
import { order, temporaryLocation } from '../../testing/open-billing.ts';

/** Other tests run the operations on both engines. These tests cover the event handler. */
const open = opener(async () => temporaryLocation());

test('a completed task is charged by its usage', async () => {
  const on = await open();
  await on.billing.placeHold(order(on, 'task_1'));
  await on.billing.placeHold(order(on, 'task_2', { priceKey: 'Alpha-H3__context_ir', resolution: '', seconds: 0n }));

  await on.finish({ taskId: 'task_1', state: TaskState.COMPLETED, usage: { totalSeconds: 6n } });
  await on.finish({
    taskId: 'task_2',
    state: TaskState.COMPLETED,
    usage: { promptTokens: 5664n, completionTokens: 3426n, totalTokens: 9090n },
  });

  expect((await on.billing.getHold({ taskId: 'task_1' })).settlement).toMatchObject({
    amountNanos: 48n * CENT,
    basis: Basis.USAGE,
  });
  expect((await on.billing.getHold({ taskId: 'task_2' })).settlement).toMatchObject({
    amountNanos: 17_431_200n,
    basis: Basis.USAGE,
  });
  await expectSound(on);
});

test('a completed task without usage is charged by its estimate', async () => {
  const on = await open();
  await on.billing.placeHold(order(on, 'task_1'));

  await on.finish({ taskId: 'task_1', state: TaskState.COMPLETED });

  expect((await on.billing.getHold({ taskId: 'task_1' })).settlement).toMatchObject({
    amountNanos: 40n * CENT,
    basis: Basis.ESTIMATE,
  });
});

test('a failed task releases its hold, and a failed task without a hold blocks a later one', async () => {
  const on = await open();
  await on.billing.placeHold(order(on, 'task_1'));

  await on.finish({ taskId: 'task_1', state: TaskState.FAILED });
  await on.finish({ taskId: 'task_2', state: TaskState.FAILED });

  expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 0n, used: 0n });
  await expect(on.billing.placeHold(order(on, 'task_2'))).rejects.toMatchObject({ reason: 'hold_voided' });
});

test('the first delivery counts, and a second changes nothing', async () => {
  const on = await open();
  await on.billing.placeHold(order(on, 'task_1'));

  await on.finish({ taskId: 'task_1', state: TaskState.COMPLETED, usage: { totalSeconds: 6n } });
  await on.finish({ taskId: 'task_1', state: TaskState.COMPLETED, usage: { totalSeconds: 9n } });
  await on.finish({ taskId: 'task_1', state: TaskState.FAILED });

  expect(await books(on)).toMatchObject({ balance: 9952n * CENT, held: 0n });
  await expectSound(on);
});

test.each([
  ['an unfinished state', TaskState.IN_PROGRESS],
  ['no state', TaskState.UNSPECIFIED],
])('%s leaves the hold unchanged', async (_what, state) => {
  const on = await open();
  await on.billing.placeHold(order(on, 'task_1'));

  await on.finish({ taskId: 'task_1', state });

  expect(await books(on)).toMatchObject({ held: 40n * CENT });
});

test('a completed task without a hold charges nothing and is not retried', async () => {
  const on = await open();

  await on.finish({ taskId: 'task_1', state: TaskState.COMPLETED, usage: { totalSeconds: 6n } });
  await on.clock.advance(60_000);

  expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 0n, used: 0n });
  expect(await on.metrics.text()).toContain('reelgate_billing_settlements_total{outcome="hold_not_found"} 1');
});
