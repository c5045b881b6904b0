import { expect, test } from '@jest/globals';
import { TokenClass } from '@reelgate/proto/billing/v1/token_queue';
import { CENT, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, facts, order } from '../../../testing/open-billing.ts';

/** Five seconds of 768P cost 40 cents without a choice. */
const CHOSEN = aConfig({
  prices: {
    ...PRICES,
    'Alpha-H3__sound_true': { per_second: '0.10', class_discounts: { batch: '0.5' } },
    'Alpha-H3__tier_flex': { per_second: '0.04' },
    'Alpha-H3__sound_true__tier_flex': { per_second: '0.05' },
  },
});

describeOnEngines('a choice of the order with a price of its own', (open) => {
  test.each<[string, readonly string[], TokenClass, bigint, string]>([
    ['none', [], TokenClass.UNSPECIFIED, 40n, 'Alpha-H3'],
    ['one', ['sound_true'], TokenClass.UNSPECIFIED, 50n, 'Alpha-H3__sound_true'],
    ['one in a class', ['sound_true'], TokenClass.BATCH, 25n, 'Alpha-H3__sound_true__batch'],
    ['two with one price', ['tier_flex', 'sound_true'], TokenClass.UNSPECIFIED, 25n, 'Alpha-H3__sound_true__tier_flex'],
    ['one beside one without a price', ['draft_true', 'tier_flex'], TokenClass.STANDARD, 20n, 'Alpha-H3__tier_flex'],
    ['one without a price', ['sound_false'], TokenClass.UNSPECIFIED, 40n, 'Alpha-H3'],
  ])('prices the quote and the hold alike: %s', async (_what, choices, ofClass, cents, contract) => {
    const on = await open(CHOSEN);
    const some = { choices: [...choices], class: ofClass };

    const { quote } = await on.billing.quotePrice({ accountId: 'demo', facts: facts(some) });
    const { hold } = await on.billing.placeHold(order(on, 'task_1', some));

    expect(quote).toMatchObject({ amountNanos: cents * CENT, contract });
    expect(hold).toMatchObject({ amountNanos: cents * CENT, contract });
    await expectSound(on);
  });
});
