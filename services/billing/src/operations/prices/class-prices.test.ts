import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { TokenClass } from '@reelgate/proto/billing/v1/token_queue';
import { UsageGroup } from '@reelgate/proto/billing/v1/usage_service';
import { CENT, books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, facts, order } from '../../../testing/open-billing.ts';

const DISCOUNTED = aConfig({
  prices: { ...PRICES, 'Alpha-H3': { ...PRICES['Alpha-H3'], class_discounts: { batch: '0.5' } } },
});
const HOUR_MS = 3_600_000;
const { BATCH, STANDARD, UNSPECIFIED } = TokenClass;

describeOnEngines('a discount of a class', (open) => {
  test.each([
    [BATCH, 20n, 'Alpha-H3__batch'],
    [STANDARD, 40n, 'Alpha-H3'],
    [UNSPECIFIED, 40n, 'Alpha-H3'],
  ])('prices the quote and the hold of the class %s alike', async (ofClass, cents, contract) => {
    const on = await open(DISCOUNTED);

    const { quote } = await on.billing.quotePrice({ accountId: 'demo', facts: facts({ class: ofClass }) });
    const { hold } = await on.billing.placeHold(order(on, 'task_1', { class: ofClass }));

    expect(quote).toMatchObject({ amountNanos: cents * CENT, contract, version: 1 });
    expect(hold).toMatchObject({ amountNanos: cents * CENT, contract, version: 1 });
    expect(await books(on)).toMatchObject({ held: cents * CENT });
  });

  test('is frozen with the hold, and so are extension and charge, whatever the prices are then', async () => {
    const on = await open(DISCOUNTED);
    const { hold } = await on.billing.placeHold(order(on, 'task_1', { class: BATCH }));
    await on.service.reload(aConfig());

    expect((await on.billing.placeHold(order(on, 'task_1', { class: BATCH }))).hold).toEqual(hold);
    const more = facts({ priceKey: hold!.contract, seconds: 6n });
    expect((await on.billing.extendHold({ taskId: 'task_1', facts: more })).hold?.amountNanos).toBe(24n * CENT);
    expect((await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 4n })).settlement?.amountNanos).toBe(
      16n * CENT,
    );
    expect((await on.billing.placeHold(order(on, 'task_2', { class: BATCH }))).hold?.amountNanos).toBe(40n * CENT);
    await expectSound(on);
  });

  test('is listed as a contract of its own, and counts for its model in statements', async () => {
    const on = await open(DISCOUNTED);
    await on.billing.placeHold(order(on, 'task_1', { class: BATCH }));
    await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 5n });

    const { contracts } = await on.accounts.listPrices({});
    const listed = contracts.filter(({ key }) => /^Alpha-H3(__batch)?$/.test(key));
    expect(listed.map(({ key, termsJson, current }) => [key, JSON.parse(termsJson) as unknown, current])).toEqual([
      ['Alpha-H3', PRICES['Alpha-H3'], true],
      ['Alpha-H3__batch', { per_second: { '768P': '0.04', '2K': '0.065' }, images: { free: 5, each: '0.02' } }, true],
    ]);
    const { groups } = await on.usage.getUsage({
      accountId: 'demo',
      from: timestampFromMs(on.clock.now() - HOUR_MS),
      to: timestampFromMs(on.clock.now() + HOUR_MS),
      groupBy: UsageGroup.MODEL,
    });
    expect(groups).toMatchObject([{ key: 'Alpha-H3', amountNanos: 20n * CENT, requests: 1n }]);
  });
});
