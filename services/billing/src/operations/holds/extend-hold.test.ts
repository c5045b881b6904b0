import { expect, test } from '@jest/globals';
import { CENT, DOLLAR, books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { aConfig, facts, order } from '../../../testing/open-billing.ts';

describeOnEngines('an extension', (open) => {
  test('prices the complete facts under the frozen version, once', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));
    await on.service.reload(aConfig({ prices: { 'Alpha-H3': { per_second: '50' } } }));

    const { hold } = await on.billing.extendHold({ taskId: 'task_1', facts: facts({ inputVideoSeconds: 3n }) });
    const { hold: again } = await on.billing.extendHold({ taskId: 'task_1', facts: facts({ inputVideoSeconds: 9n }) });

    expect(hold).toMatchObject({ amountNanos: 64n * CENT, version: 1, facts: { inputVideoSeconds: 3n } });
    expect(again).toEqual(hold);
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 64n * CENT, used: 64n * CENT });
    await expectSound(on);
  });

  test('gives back the difference when complete facts cost less', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));

    await on.billing.extendHold({ taskId: 'task_1', facts: facts({ seconds: 4n }) });

    expect(await books(on)).toMatchObject({ held: 32n * CENT, used: 32n * CENT });
    await expectSound(on);
  });

  test.each([
    ['the balance', aConfig({ credit: '0.63' })],
    ['the limit of the token', aConfig({ token: { limit: '0.63' } })],
  ])('is refused when %s does not cover it, and keeps the hold', async (_what, value) => {
    const on = await open(value);
    await on.billing.placeHold(order(on, 'task_1'));

    await expect(
      on.billing.extendHold({ taskId: 'task_1', facts: facts({ inputVideoSeconds: 3n }) }),
    ).rejects.toMatchObject({ reason: 'insufficient_quota' });

    expect((await on.billing.getHold({ taskId: 'task_1' })).hold).toMatchObject({
      amountNanos: 40n * CENT,
      facts: { inputVideoSeconds: 0n },
    });
    expect(await books(on)).toMatchObject({ held: 40n * CENT, used: 40n * CENT });
  });

  test('succeeds for a task whose token was revoked', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));
    await on.accounts.revokeToken({ id: on.tokenId });

    await on.billing.extendHold({ taskId: 'task_1', facts: facts({ seconds: 6n }) });

    expect(await books(on)).toMatchObject({ held: 48n * CENT });
  });

  test('is refused without an open hold, and under another key', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));
    await on.billing.placeHold(order(on, 'task_2'));
    await on.billing.settleHold({ taskId: 'task_2' });
    await on.billing.releaseHold({ taskId: 'task_3' });

    await expect(
      on.billing.extendHold({ taskId: 'task_1', facts: facts({ priceKey: 'Alpha-H3__regeneration' }) }),
    ).rejects.toMatchObject({ kind: 'invalid', field: 'facts.price_key' });
    await expect(on.billing.extendHold({ taskId: 'task_2', facts: facts() })).rejects.toMatchObject({
      kind: 'conflict',
      reason: 'hold_ended',
    });
    await expect(on.billing.extendHold({ taskId: 'task_3', facts: facts() })).rejects.toMatchObject({
      kind: 'conflict',
      reason: 'hold_voided',
    });
    await expect(on.billing.extendHold({ taskId: 'task_4', facts: facts() })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'hold_not_found',
    });
  });
});
