import { expect, test } from '@jest/globals';
import { CENT, DOLLAR } from '../../../testing/books.ts';
import { CHAT_PRICES, callOrder } from '../../../testing/call-orders.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { aConfig } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';

const MILL = CENT / 10n;

describeOnEngines('calls whose caller asks only for refusals tell', (open) => {
  const place = (on: TestBilling, calls: ReturnType<typeof callOrder>[]) =>
    on.calls.placeCalls({ calls, refusalsOnly: true });

  test('what each holds, and what the account and the token have left', async () => {
    const on = await open(aConfig({ prices: CHAT_PRICES }));
    const { token } = await on.accounts.createToken({ accountId: 'demo', models: ['*'], limitNanos: DOLLAR });
    const { heldNanos, remainders } = await place(on, [
      callOrder(on, 'call_1'),
      callOrder(on, 'call_2', { facts: {} }),
      callOrder(on, 'call_3', { tokenId: token!.id }),
    ]);

    const accountNanos = 100n * DOLLAR - 20n * MILL;
    expect(heldNanos).toEqual([5n * MILL, 10n * MILL, 5n * MILL]);
    expect(
      new Map(
        remainders.map(({ tokenId, tokenNanos, ...of }) => [tokenId, [of.accountId, of.accountNanos, tokenNanos]]),
      ),
    ).toEqual(
      new Map([
        [on.tokenId, ['demo', accountNanos, undefined]],
        [token!.id, ['demo', accountNanos, DOLLAR - 5n * MILL]],
      ]),
    );
  });

  test('nothing of a token or an account that does not cover them all', async () => {
    const on = await open(aConfig({ prices: CHAT_PRICES, credit: '0.01' }));
    const { token } = await on.accounts.createToken({ accountId: 'demo', models: ['*'], limitNanos: MILL });
    const small = callOrder(on, 'call_1', { tokenId: token!.id });

    expect(await place(on, [small])).toMatchObject({ held: 0, heldNanos: [0n], remainders: [] });
    expect(
      await place(
        on,
        ['call_2', 'call_3', 'call_4'].map((id) => callOrder(on, id)),
      ),
    ).toMatchObject({
      held: 2,
      heldNanos: [5n * MILL, 5n * MILL, 0n],
      remainders: [],
    });
  });
});
