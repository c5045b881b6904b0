import { expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { books, expectSound } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { aConfig, order } from '../../../testing/open-billing.ts';
import type { ConfigValue, TestBilling } from '../../../testing/open-billing.ts';

async function refusalOf(call: Promise<unknown>): Promise<object | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { kind, reason, field, message } = error;
    return { kind, reason, field, message };
  }
}

describeOnEngines('a checked hold', (open) => {
  test.each<[string, ConfigValue, string | undefined, (on: TestBilling) => Promise<unknown>, object]>([
    ['covered', aConfig(), undefined, async () => undefined, {}],
    [
      'beyond the balance',
      aConfig({ credit: '0.79' }),
      'insufficient_quota',
      (on) => on.billing.placeHold(order(on, 'task_0')),
      {},
    ],
    ['that uses the balance to the last billionth', aConfig({ credit: '0.4' }), undefined, async () => undefined, {}],
    [
      'beyond the limit of the token',
      aConfig({ token: { limit: '0.70' } }),
      'insufficient_quota',
      (on) => on.billing.placeHold(order(on, 'task_0')),
      {},
    ],
    [
      'beyond the balance and the limit',
      aConfig({ credit: '0.1', token: { limit: '0.2' } }),
      'insufficient_quota',
      async () => undefined,
      {},
    ],
    ['without a contract', aConfig({ prices: {} }), 'model_price_error', async () => undefined, {}],
    ['of an unknown account', aConfig(), 'account_not_found', async () => undefined, { accountId: 'nobody' }],
    ['of an unknown token', aConfig(), 'token_not_found', async () => undefined, { tokenId: 'tok_nobody' }],
  ])(
    '%s gets the answer that placing it would get, and nothing changes',
    async (_what, config, reason, prepare, over) => {
      const on = await open(config);
      await prepare(on);
      const before = await books(on);

      const refusal = await refusalOf(on.billing.checkHold({ ...order(on, 'task_1'), ...over }));
      expect(await books(on)).toEqual(before);
      expect(refusal).toEqual(await refusalOf(on.billing.placeHold({ ...order(on, 'task_1'), ...over })));
      expect((refusal as { reason?: string } | undefined)?.reason).toBe(reason);
      await expectSound(on);
    },
  );
});
