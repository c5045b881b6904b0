import { expect, test } from '@jest/globals';
import type { CallOptions } from '@reelgate/platform/rpc/service';
import { DOLLAR, books, expectSound } from '../../testing/books.ts';
import { CHAT_PRICES, callOrder } from '../../testing/call-orders.ts';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { PRICES, aConfig, order } from '../../testing/open-billing.ts';
import type { TestBilling } from '../../testing/open-billing.ts';

const UNTOUCHED = { balance: 100n * DOLLAR, held: 0n, used: 0n };

type Write = (on: TestBilling, options: CallOptions) => Promise<unknown>;

const WRITES: readonly (readonly [string, Write])[] = [
  ['a hold', (on, options) => on.billing.placeHold(order(on, 'task_1'), options)],
  ['a list of holds', (on, options) => on.billing.placeHolds({ orders: [{ hold: order(on, 'task_1') }] }, options)],
  [
    'a credit',
    (on, options) => on.accounts.creditAccount({ id: 'demo', amountNanos: DOLLAR, reason: 'top up' }, options),
  ],
  ['a token', (on, options) => on.accounts.createToken({ accountId: 'demo', models: ['*'] }, options)],
  ['a call', (on, options) => on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] }, options)],
];

describeOnEngines('a write whose deadline has passed', (open) => {
  test.each(WRITES)('does not store %s', async (_what, write) => {
    const on = await open(aConfig({ prices: { ...PRICES, ...CHAT_PRICES } }));
    const caller = new AbortController();

    const call = write(on, { signal: caller.signal });
    caller.abort();
    await expect(call).rejects.toMatchObject({ reason: 'service_unavailable' });
    await expect(write(on, { timeoutMs: 0 })).rejects.toMatchObject({ reason: 'service_unavailable' });

    // a later write runs after the abandoned one
    await on.accounts.revokeToken({ id: on.tokenId });
    expect(await books(on)).toEqual(UNTOUCHED);
    expect((await on.accounts.listTokens({ accountId: 'demo' })).tokens).toHaveLength(1);
    await expectSound(on);
  });
});
