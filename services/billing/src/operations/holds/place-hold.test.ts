import { expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { CENT, DOLLAR, books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, order } from '../../../testing/open-billing.ts';

describeOnEngines('a hold', (open) => {
  test('reserves the amount of its facts under the current contract', async () => {
    const on = await open();

    const { hold } = await on.billing.placeHold(order(on, 'task_1', { images: 6n }));

    expect(hold).toMatchObject({
      taskId: 'task_1',
      accountId: 'demo',
      tokenId: on.tokenId,
      amountNanos: 44n * CENT,
      currency: 'USD',
      contract: 'Alpha-H3',
      version: 1,
    });
    expect(hold?.facts).toMatchObject({ priceKey: 'Alpha-H3', resolution: '768P', seconds: 5n, images: 6n });
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 44n * CENT, used: 44n * CENT });
    await expectSound(on);
  });

  test('is placed once; a second call with other facts changes nothing', async () => {
    const on = await open();
    const { hold: first } = await on.billing.placeHold(order(on, 'task_1'));
    await on.service.reload(aConfig({ prices: {} }));

    const { hold: second } = await on.billing.placeHold(order(on, 'task_1', { seconds: 15n }));

    expect(second).toEqual(first);
    expect(await books(on)).toMatchObject({ held: 40n * CENT });
  });

  test('is refused when the balance does not cover it, and writes nothing', async () => {
    const on = await open(aConfig({ credit: '0.79' }));
    await on.billing.placeHold(order(on, 'task_1'));

    await expect(on.billing.placeHold(order(on, 'task_2'))).rejects.toMatchObject({
      kind: 'exhausted',
      reason: 'insufficient_quota',
      retryAfterMs: undefined,
      message: expect.stringContaining('0.39 USD'),
    });

    expect(await books(on)).toEqual({ balance: 79n * CENT, held: 40n * CENT, used: 40n * CENT });
    await expect(on.billing.getHold({ taskId: 'task_2' })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'hold_not_found',
    });
    await expectSound(on);
  });

  test('may use the balance to the last billionth', async () => {
    const on = await open(aConfig({ credit: '0.4' }));

    await on.billing.placeHold(order(on, 'task_1'));

    expect(await books(on)).toMatchObject({ balance: 40n * CENT, held: 40n * CENT });
  });

  test('is refused when the limit of the token does not cover it', async () => {
    const on = await open(aConfig({ token: { limit: '0.70' } }));
    await on.billing.placeHold(order(on, 'task_1'));

    await expect(on.billing.placeHold(order(on, 'task_2'))).rejects.toMatchObject({
      kind: 'exhausted',
      reason: 'insufficient_quota',
      message: expect.stringContaining('0.3 USD'),
    });

    await on.billing.releaseHold({ taskId: 'task_1' });
    await on.billing.placeHold(order(on, 'task_3'));
    expect(await books(on)).toMatchObject({ used: 40n * CENT });
  });

  test('is refused without a contract, and the message reveals no internals', async () => {
    const on = await open(aConfig({ prices: { 'Alpha-H3': PRICES['Alpha-H3'] } }));

    await expect(
      on.billing.placeHold(order(on, 'task_1', { priceKey: 'Alpha-H3__regeneration' })),
    ).rejects.toMatchObject({
      kind: 'invalid',
      reason: 'model_price_error',
      field: undefined,
      message: 'no price is set for this model and operation',
    });
    await expect(on.billing.placeHold(order(on, 'task_1', { resolution: '1080P' }))).rejects.toMatchObject({
      reason: 'model_price_error',
    });
    expect(await books(on)).toMatchObject({ held: 0n });
  });

  test('of an explicit zero price is recorded like any other', async () => {
    const on = await open(aConfig({ credit: '0', prices: { 'Alpha-H3__regeneration': { per_second: '0' } } }));
    const free = order(on, 'task_1', { priceKey: 'Alpha-H3__regeneration' });

    await on.billing.placeHold(free);
    await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 8n });

    const { settlement, lines } = await on.billing.getHold({ taskId: 'task_1' });
    expect(settlement).toMatchObject({ amountNanos: 0n, basis: Basis.USAGE });
    expect(lines.map(({ eventKey }) => eventKey)).toEqual([
      'hold:task_1',
      'hold:task_1',
      'settle:task_1',
      'settle:task_1',
      'settle:task_1',
    ]);
    await expectSound(on);
  });

  test('is never placed by an expired or revoked token or by one of another account', async () => {
    const on = await open();
    await on.accounts.revokeToken({ id: on.tokenId });

    await expect(on.billing.placeHold(order(on, 'task_1'))).rejects.toMatchObject({
      kind: 'forbidden',
      reason: 'token_disabled',
    });
    await expect(on.billing.placeHold({ ...order(on, 'task_1'), tokenId: 'token_x' })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'token_not_found',
    });
    await expect(on.billing.placeHold({ ...order(on, 'task_1'), accountId: 'other' })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'account_not_found',
    });
    expect(await books(on)).toMatchObject({ held: 0n, used: 0n });
  });

  test('is not shown to another account', async () => {
    const value = aConfig();
    const on = await open({
      ...value,
      accounts: [...value.accounts, { id: 'other', currency: 'EUR', credit: '1', tokens: [] }],
    });
    await on.billing.placeHold(order(on, 'task_1'));
    const { token } = await on.accounts.createToken({ accountId: 'other', models: ['*'] });

    await expect(
      on.billing.placeHold({ ...order(on, 'task_1'), accountId: 'other', tokenId: token!.id }),
    ).rejects.toMatchObject({ kind: 'conflict', reason: 'task_id_taken' });
  });

  test('a hundred concurrent holds never overdraw by one unit', async () => {
    const on = await open(aConfig({ credit: '20.39' }));

    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => on.billing.placeHold(order(on, `task_${index}`))),
    );

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(50);
    expect(await books(on)).toEqual({ balance: 2039n * CENT, held: 2000n * CENT, used: 2000n * CENT });
    await expectSound(on);
  });

  test('a hundred concurrent holds never exceed the limit of their token', async () => {
    const on = await open(aConfig({ token: { limit: '4.19' } }));

    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => on.billing.placeHold(order(on, `task_${index}`))),
    );

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect(await books(on)).toMatchObject({ held: 400n * CENT, used: 400n * CENT });
  });

  test('that is refused refuses no other of the same moment', async () => {
    const value = aConfig({ credit: '1.00' });
    const on = await open({
      ...value,
      accounts: [...value.accounts, { id: 'poor', currency: 'USD', credit: '0.39', tokens: [] }],
    });
    const { token } = await on.accounts.createToken({ accountId: 'poor', models: ['*'] });
    const { token: limited } = await on.accounts.createToken({
      accountId: 'demo',
      models: ['*'],
      limitNanos: 39n * CENT,
    });
    const orders = [
      order(on, 'task_1'),
      { ...order(on, 'task_2'), accountId: 'poor', tokenId: token!.id },
      { ...order(on, 'task_3'), tokenId: limited!.id },
      { ...order(on, 'task_4'), tokenId: 'token_x' },
      order(on, 'task_5', { seconds: 60n }),
      order(on, 'task_6'),
    ];

    const outcomes = await Promise.allSettled(orders.map((one) => on.billing.placeHold(one)));

    expect(
      outcomes.map((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value.hold?.taskId : (outcome.reason as { reason: string }).reason,
      ),
    ).toEqual([
      'task_1',
      'insufficient_quota',
      'insufficient_quota',
      'token_not_found',
      'insufficient_quota',
      'task_6',
    ]);
    expect(await books(on)).toEqual({ balance: DOLLAR, held: 80n * CENT, used: 80n * CENT });
    for (const { taskId } of orders.slice(1, 5))
      await expect(on.billing.getHold({ taskId })).rejects.toMatchObject({ reason: 'hold_not_found' });
    await expectSound(on);
  });

  test('whose caller leaves leaves no other of the same moment out', async () => {
    const on = await open();
    const leaving = new AbortController();
    const left = on.billing.placeHold(order(on, 'task_1'), { signal: leaving.signal });
    const stays = on.billing.placeHold(order(on, 'task_2'));

    leaving.abort();

    await expect(left).rejects.toThrow();
    expect((await stays).hold?.taskId).toBe('task_2');
    expect(await books(on)).toMatchObject({ held: 40n * CENT, used: 40n * CENT });
    await expectSound(on);
  });

  test('is decided alone when the sum of those of the same moment is larger than any amount', async () => {
    const on = await open(aConfig({ credit: '1000000000', prices: { 'Alpha-H3': { per_second: '1000000000' } } }));

    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => on.billing.placeHold(order(on, `task_${index}`, { seconds: 1n }))),
    );

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(
      outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [(outcome.reason as { reason?: string }).reason] : [],
      ),
    ).toEqual(Array.from({ length: 11 }, () => 'insufficient_quota'));
    await expectSound(on);
  });

  test.each(['', 'x'.repeat(257), 'zero\0'])('refuses the task id "%s"', async (taskId) => {
    const on = await open();

    await expect(on.billing.placeHold(order(on, taskId))).rejects.toMatchObject({ kind: 'invalid', field: 'task_id' });
    await expect(on.billing.getHold({ taskId })).rejects.toMatchObject({ kind: 'invalid', field: 'task_id' });
  });

  test('twenty concurrent calls for one task place one hold', async () => {
    const on = await open();

    const holds = await Promise.all(Array.from({ length: 20 }, () => on.billing.placeHold(order(on, 'task_1'))));

    expect(new Set(holds.map(({ hold }) => hold?.amountNanos))).toEqual(new Set([40n * CENT]));
    expect(await books(on)).toMatchObject({ held: 40n * CENT });
    expect((await on.billing.getHold({ taskId: 'task_1' })).lines).toHaveLength(2);
  });
});
