import { expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { CENT, DOLLAR, books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { aConfig, order } from '../../../testing/open-billing.ts';
import { sqlHoldStore } from '../../store/holds/sql-hold-store.ts';

describeOnEngines('the charge of a task', (open) => {
  test('by usage comes out of the hold, and the rest returns to the balance', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));

    const { settlement } = await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 4n });

    expect(settlement).toMatchObject({ amountNanos: 32n * CENT, basis: Basis.USAGE });
    expect(await books(on)).toEqual({ balance: 9968n * CENT, held: 0n, used: 32n * CENT });
    await expectSound(on);
  });

  test('by usage above the hold is full, even below zero', async () => {
    const on = await open(aConfig({ credit: '0.4' }));
    await on.billing.placeHold(order(on, 'task_1'));

    await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 50n });

    expect(await books(on)).toEqual({ balance: -360n * CENT, held: 0n, used: 400n * CENT });
    await expect(on.billing.placeHold(order(on, 'task_2'))).rejects.toMatchObject({ reason: 'insufficient_quota' });
    await expectSound(on);
  });

  test('waits for an operator when usage is far above the hold', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));

    const { settlement } = await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 51n });

    expect(settlement).toMatchObject({ amountNanos: 0n, basis: Basis.DEFERRED });
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 40n * CENT, used: 40n * CENT });
    expect(await on.billing.getHold({ taskId: 'task_1' })).toMatchObject({
      settlement: { basis: Basis.DEFERRED },
      deferredAmountNanos: 408n * CENT,
      lines: { length: 2 },
    });
    await expectSound(on);

    const { settlement: confirmed } = await on.billing.settleHold({
      taskId: 'task_1',
      totalSeconds: 51n,
      confirmed: true,
    });

    expect(confirmed).toMatchObject({ amountNanos: 408n * CENT, basis: Basis.USAGE });
    expect(await books(on)).toEqual({ balance: 9592n * CENT, held: 0n, used: 408n * CENT });
    expect((await on.billing.getHold({ taskId: 'task_1' })).deferredAmountNanos).toBeUndefined();
    await expectSound(on);
  });

  test('that waits for an operator can become a release', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));
    await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 51n });

    await on.billing.releaseHold({ taskId: 'task_1' });

    expect(await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 5n })).toMatchObject({
      settlement: { basis: Basis.RELEASED },
    });
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 0n, used: 0n });
  });

  test.each([2n ** 62n, 2n ** 63n - 1n])(
    'of %s seconds waits for an operator, and confirming it is refused',
    async (totalSeconds) => {
      const on = await open();
      await on.billing.placeHold(order(on, 'task_1'));

      expect(await on.billing.settleHold({ taskId: 'task_1', totalSeconds })).toMatchObject({
        settlement: { basis: Basis.DEFERRED },
      });
      await expect(on.billing.settleHold({ taskId: 'task_1', totalSeconds, confirmed: true })).rejects.toMatchObject({
        kind: 'invalid',
        reason: 'amount_out_of_bounds',
      });
      expect(await books(on)).toMatchObject({ held: 40n * CENT });
    },
  );

  test('uses the contract of the hold, not the current one', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));
    await on.service.reload(aConfig({ prices: {} }));

    expect(await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 5n })).toMatchObject({
      settlement: { amountNanos: 40n * CENT },
    });
  });

  test.each([
    ['a context-IR hold without usage is charged as held', 'Alpha-H3__context_ir', {}, 5n * CENT, Basis.HOLD],
    [
      'a context-IR hold with tokens',
      'Alpha-H3__context_ir',
      { inputTokens: 5664n, outputTokens: 3426n },
      17_431_200n,
      Basis.USAGE,
    ],
    ['a regeneration without usage', 'Alpha-H3__regeneration', {}, 25n * CENT, Basis.ESTIMATE],
  ])('%s', async (_what, priceKey, usage, amountNanos, basis) => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1', { priceKey, resolution: '' }));

    expect((await on.billing.settleHold({ taskId: 'task_1', ...usage })).settlement).toMatchObject({
      amountNanos,
      basis,
    });
    await expectSound(on);
  });

  test('begins no transaction when it is repeated', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));
    await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 5n });
    const transaction = async (): Promise<never> => {
      throw new Error('a transaction began');
    };
    const store = sqlHoldStore({ ...on.sql, transaction });
    const ended = await store.end('task_1', on.clock.now(), () => ({ kind: 'release' }), true);

    expect(ended).toMatchObject({ isNew: false, record: { state: 'ended', settlement: { amount: 40n * CENT } } });
    await expectSound(on);
  });

  test('reads nothing before its transaction when it is the first, and is the same when it comes twice', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));
    const read = async (): Promise<never> => {
      throw new Error('a statement ran before the transaction');
    };
    const store = sqlHoldStore({ ...on.sql, read });
    const end = () => store.end('task_1', on.clock.now(), () => ({ kind: 'release' }), false);

    expect([(await end())?.isNew, (await end())?.isNew]).toEqual([true, false]);
    expect(await books(on)).toMatchObject({ held: 0n, used: 0n });
    await expectSound(on);
  });

  test('is refused without a hold', async () => {
    const on = await open();

    await expect(on.billing.settleHold({ taskId: 'task_1', totalSeconds: 5n })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'hold_not_found',
    });

    await on.billing.placeHold(order(on, 'task_1'));
    expect(await books(on)).toMatchObject({ held: 40n * CENT });
  });
});
