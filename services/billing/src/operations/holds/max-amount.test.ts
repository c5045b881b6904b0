import { expect, test } from '@jest/globals';
import { catchRefusal } from '@reelgate/platform/testing/refusals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { CENT, books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';
import { PRICES, aConfig, order } from '../../../testing/open-billing.ts';

/** Five seconds of 768P cost 0.40. */
const bounded = (on: Pick<TestBilling, 'tokenId'>, maxAmountNanos: bigint, some: Parameters<typeof order>[2] = {}) => ({
  ...order(on, 'task_1', some),
  maxAmountNanos,
});
const METADATA = { amount: '0.4', max_amount: '0.4', currency: 'USD' };

describeOnEngines('a bound', (open) => {
  test('takes a hold that it covers, to the last billionth', async () => {
    const on = await open();

    const { hold } = await on.billing.placeHold({ ...bounded(on, 40n * CENT), currency: 'USD' });

    expect(hold).toMatchObject({ amountNanos: 40n * CENT, maxAmountNanos: 40n * CENT });
    expect((await on.billing.getHold({ taskId: 'task_1' })).hold).toEqual(hold);
    await expectSound(on);
  });

  test('refuses a hold above it with the true amount, again at each repeat, and writes nothing', async () => {
    const on = await open();
    const short = bounded(on, 40n * CENT - 1n);

    for (const call of [on.billing.placeHold, on.billing.placeHold, on.billing.checkHold])
      expect(await catchRefusal(call(short))).toMatchObject({
        kind: 'unprocessable',
        reason: 'price_above_max',
        field: 'max_amount_nanos',
        message: 'is 0.399999999 USD, but this request costs 0.4 USD',
        metadata: METADATA,
      });

    expect(await books(on)).toMatchObject({ held: 0n, used: 0n });
    await expect(on.billing.getHold({ taskId: 'task_1' })).rejects.toMatchObject({ reason: 'hold_not_found' });
  });

  test('is compared with the price of the moment, and a placed hold stands when the price rises', async () => {
    const on = await open();
    const { quote } = await on.billing.quotePrice(order(on, 'task_1'));
    expect(quote).toMatchObject({ amountNanos: 40n * CENT, maxAmountNanos: 40n * CENT });
    const { hold } = await on.billing.placeHold(bounded(on, quote!.amountNanos));
    await on.service.reload(aConfig({ prices: { ...PRICES, 'Alpha-H3': { per_second: '0.09' } } }));

    expect((await on.billing.placeHold(bounded(on, quote!.amountNanos))).hold).toEqual(hold);
    expect(
      await catchRefusal(on.billing.placeHold({ ...bounded(on, quote!.amountNanos), taskId: 'task_2' })),
    ).toMatchObject({ reason: 'price_above_max', metadata: { ...METADATA, amount: '0.45', max_amount: '0.45' } });
  });

  test('has the currency of the account, or is refused', async () => {
    const on = await open();

    for (const call of [on.billing.placeHold, on.billing.checkHold])
      expect(await catchRefusal(call({ ...bounded(on, 40n * CENT), currency: 'EUR' }))).toMatchObject({
        kind: 'invalid',
        field: 'currency',
        message: 'must be USD, the currency of the account',
      });
  });

  test('refuses an extension above it, and the hold stays as it was', async () => {
    const on = await open();
    await on.billing.placeHold(bounded(on, 50n * CENT));
    const extend = (seconds: bigint) =>
      on.billing.extendHold({ taskId: 'task_1', facts: order(on, 'task_1', { seconds }).facts });

    expect(await catchRefusal(extend(7n))).toMatchObject({ reason: 'price_above_max' });
    expect(await books(on)).toMatchObject({ held: 40n * CENT });
    const extended = { amountNanos: 48n * CENT, maxAmountNanos: 50n * CENT };
    expect((await extend(6n)).hold).toMatchObject(extended);
    // a repeat gives the hold as it stands, whatever it asks for
    expect((await extend(7n)).hold).toMatchObject(extended);
    await expectSound(on);
  });

  test.each<[string, bigint, boolean, bigint]>([
    ['less than ordered', 4n, false, 32n],
    ['more than ordered, within the bound', 6n, false, 48n],
    ['more than the bound', 7n, false, 50n],
    ['far more, confirmed by an operator', 1000n, true, 50n],
  ])('caps the charge of usage: %s', async (_what, totalSeconds, confirmed, cents) => {
    const on = await open();
    await on.billing.placeHold(bounded(on, 50n * CENT));

    const { settlement } = await on.billing.settleHold({ taskId: 'task_1', totalSeconds, confirmed });

    expect(settlement).toMatchObject({ amountNanos: cents * CENT, basis: Basis.USAGE });
    expect(await books(on)).toMatchObject({ balance: (10_000n - cents) * CENT, held: 0n, used: cents * CENT });
    await expectSound(on);
  });

  test('is what an operator can confirm of usage far above the hold', async () => {
    const on = await open();
    await on.billing.placeHold(bounded(on, 50n * CENT));

    const { settlement } = await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 51n });

    expect(settlement?.basis).toBe(Basis.DEFERRED);
    expect((await on.billing.getHold({ taskId: 'task_1' })).deferredAmountNanos).toBe(50n * CENT);
  });

  test('must cover the most that unknown tokens can come to without an operator', async () => {
    const on = await open();
    const byTokens = { priceKey: 'Alpha-H3__context_ir', resolution: '', seconds: 0n };

    expect((await on.billing.quotePrice(order(on, 'task_1', byTokens))).quote).toMatchObject({
      amountNanos: 5n * CENT,
      maxAmountNanos: 50n * CENT,
    });
    expect(await catchRefusal(on.billing.placeHold(bounded(on, 50n * CENT - 1n, byTokens)))).toMatchObject({
      reason: 'price_above_max',
      message: 'is 0.499999999 USD, but this request holds 0.05 USD and can cost up to 0.5 USD',
      metadata: { amount: '0.05', max_amount: '0.5', currency: 'USD' },
    });
    expect((await on.billing.placeHold(bounded(on, 50n * CENT, byTokens))).hold?.amountNanos).toBe(5n * CENT);
  });

  test('is a constraint of the row', async () => {
    const on = await open();
    await on.billing.placeHold(bounded(on, 50n * CENT));
    const change = (column: string) =>
      on.sql.transaction((query) =>
        query(`UPDATE holds SET ${column} = $1 WHERE task_id = $2`, [51n * CENT, 'task_1']),
      );

    await expect(change('charged_nanos')).rejects.toThrow(/check/i);
    await expect(change('amount_nanos')).rejects.toThrow(/check/i);
    expect((await on.billing.getHold({ taskId: 'task_1' })).hold?.amountNanos).toBe(40n * CENT);
  });
});
