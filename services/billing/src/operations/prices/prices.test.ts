import { expect, test } from '@jest/globals';
import { CENT } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, facts, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';
import { PriceUnit } from '@reelgate/proto/billing/v1/price';
import { sqlPriceStore } from '../../store/prices/sql-price-store.ts';

const put = ({ service }: TestBilling, prices: Record<string, object>): Promise<void> =>
  service.reload(aConfig({ prices }));

async function versions({ accounts }: TestBilling): Promise<string[]> {
  return (await accounts.listPrices({})).contracts.map(
    ({ key, version, current }) => `${key} ${version}${current ? ' current' : ''}`,
  );
}

describeOnEngines('a price contract', (open) => {
  test('gets a new version only when its entry changes', async () => {
    const on = await open(aConfig({ prices: { a: { per_second: '0.08' }, b: { per_second: '1' } } }));

    await put(on, { b: { per_second: '1.00' }, a: { per_second: '0.09' } });
    await put(on, { b: { per_second: '1' }, a: { per_second: '0.08' } });

    expect(await versions(on)).toEqual(['a 1', 'a 2', 'a 3 current', 'b 1 current']);
  });

  test('keeps its terms as they were written, and their time', async () => {
    const on = await open(aConfig({ prices: PRICES }));

    const { contracts } = await on.accounts.listPrices({});

    expect(contracts.map(({ termsJson }) => JSON.parse(termsJson))).toEqual([
      PRICES['Alpha-H3'],
      PRICES['Alpha-H3__context_ir'],
      PRICES['Alpha-H3__regeneration'],
    ]);
    expect(contracts.map(({ sinceMs }) => Number(sinceMs))).toEqual(Array(3).fill(on.clock.now()));
  });

  test('refuses when it is removed from the configuration, and returns as the same version', async () => {
    const on = await open(aConfig({ prices: { 'Alpha-H3': { per_second: '0.08' } } }));
    const quote = async () => (await on.billing.quotePrice({ accountId: 'demo', facts: facts() })).quote;

    await put(on, {});
    await expect(quote()).rejects.toMatchObject({ kind: 'invalid', reason: 'model_price_error' });
    expect(await versions(on)).toEqual(['Alpha-H3 1']);

    await put(on, { 'Alpha-H3': { per_second: '0.08' } });
    expect(await quote()).toMatchObject({ amountNanos: 40n * CENT, currency: 'USD', contract: 'Alpha-H3', version: 1 });
  });

  test('is quoted without moving anything', async () => {
    const on = await open();

    const { quote } = await on.billing.quotePrice({ accountId: 'demo', facts: facts({ images: 7n }) });

    expect(quote).toMatchObject({ amountNanos: 48n * CENT, currency: 'USD', contract: 'Alpha-H3', version: 1 });
    expect(await on.accounts.verifyLedger({})).toMatchObject({ entries: 2n });
    await expect(on.billing.quotePrice({ accountId: 'nobody', facts: facts() })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'account_not_found',
    });
  });

  test('is shown as the prices of units, a second after another process has changed it', async () => {
    const on = await open(aConfig({ prices: { a: { per_second: { '2K': '0.13' } }, b: { per_request: '1' } } }));
    const queries = [
      { priceKey: 'a', resolutions: ['768P', '2K'] },
      { priceKey: 'none', resolutions: ['2K'] },
      { priceKey: 'b', resolutions: [] },
    ];
    const list = async () => await on.billing.listUnitPrices({ accountId: 'demo', queries });
    const secondPrices = async () =>
      (await list()).sheets.flatMap(({ prices }) =>
        prices.filter(({ unit }) => unit === PriceUnit.OUTPUT_SECOND).map(({ amountNanos }) => amountNanos / CENT),
      );

    expect(await list()).toMatchObject({
      currency: 'USD',
      sheets: [
        { priceKey: 'a', priced: true, resolutions: ['2K'] },
        { priceKey: 'none', priced: false, prices: [] },
        { priceKey: 'b', priced: true, prices: [{ unit: PriceUnit.REQUEST, amountNanos: 100n * CENT }] },
      ],
    });
    expect(await secondPrices()).toEqual([13n]);
    await sqlPriceStore(on.sql, on.clock).put([{ key: 'a', terms: { per_second: { '2K': '0.20' } } }], on.clock.now());
    expect(await secondPrices()).toEqual([13n]);
    await on.clock.advance(1000);
    expect(await secondPrices()).toEqual([20n]);
    await expect(on.billing.listUnitPrices({ accountId: 'nobody' })).rejects.toMatchObject({
      reason: 'account_not_found',
    });
  });

  test.each([
    ['missing facts', undefined, 'facts'],
    ['negative seconds', facts({ seconds: -1n }), 'facts.seconds'],
    ['negative images', facts({ images: -1n }), 'facts.images'],
    ['a key that is too long', facts({ priceKey: 'k'.repeat(257) }), 'facts.price_key'],
  ])('gives no quote with %s', async (_what, wrong, field) => {
    const on = await open();

    await expect(
      on.billing.quotePrice({ accountId: 'demo', ...(wrong === undefined ? {} : { facts: wrong }) }),
    ).rejects.toMatchObject({ kind: 'invalid', field });
  });

  test('is the same for all processes that start at the same moment', async () => {
    const on = await open(aConfig({ prices: {} }));
    const prices = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`model-${index}`, { per_second: '1' }]),
    );

    await Promise.all(Array.from({ length: 5 }, () => put(on, prices)));

    expect(await versions(on)).toEqual(
      Object.keys(prices)
        .sort()
        .map((key) => `${key} 1 current`),
    );
  });

  test('is read within a second of a change by another process, and at once after its own', async () => {
    const on = await open(aConfig({ prices: { 'Alpha-H3': { per_second: '1' } } }));
    const elsewhere = sqlPriceStore(on.sql, on.clock);
    const version = async () => (await on.billing.quotePrice({ accountId: 'demo', facts: facts() })).quote?.version;

    expect(await version()).toBe(1);
    await elsewhere.put([{ key: 'Alpha-H3', terms: { per_second: '2' } }], on.clock.now());
    await on.clock.advance(1000);
    expect(await version()).toBe(2);
    await put(on, { 'Alpha-H3': { per_second: '3' } });
    expect(await version()).toBe(3);
  });

  test('stays frozen in its holds', async () => {
    const on = await open();
    await on.billing.placeHold(order(on, 'task_1'));
    await put(on, { 'Alpha-H3': { per_second: '9' } });
    await on.billing.placeHold(order(on, 'task_2', { seconds: 1n }));

    expect((await on.billing.getHold({ taskId: 'task_1' })).hold).toMatchObject({
      version: 1,
      amountNanos: 40n * CENT,
    });
    expect((await on.billing.getHold({ taskId: 'task_2' })).hold).toMatchObject({
      version: 2,
      amountNanos: 900n * CENT,
    });
  });
});
