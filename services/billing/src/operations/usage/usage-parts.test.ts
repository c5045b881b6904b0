import { expect, test } from '@jest/globals';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { UsageGroup } from '@reelgate/proto/billing/v1/usage_service';
import { expectSound } from '../../../testing/books.ts';
import { CHAT_PRICES, HOUR_MS, callOrder, usedTokens } from '../../../testing/call-orders.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';

const START = Date.UTC(2026, 0, 1);
const END = START + 24 * HOUR_MS;
const BILLIONS = 5_000_000_000n;
const config = aConfig({ prices: { ...PRICES, ...CHAT_PRICES } });

/** A task and a call without parts, two calls with parts in one hour, one of them with a label, and one an hour later. */
async function fillAccount(on: TestBilling): Promise<void> {
  const usages = {
    call_1: { parts: { cacheWrite: 300n, cacheWrite1h: 100n, reasoning: 7n }, searches: 2n },
    call_2: { parts: { cacheWrite: 30n, audioInput: 5n, imageOutput: 4n } },
    call_3: { parts: { cacheWrite: 3n, cachedAudio: BILLIONS }, searches: 1n },
  };
  const priceKeys = ['claude'];
  await on.calls.placeCalls({
    calls: [
      callOrder(on, 'call_1', { priceKeys, label: 'spring' }),
      callOrder(on, 'call_2', { priceKeys }),
      callOrder(on, 'call_3', { priceKeys, lapsesAt: timestampFromMs(END) }),
      callOrder(on, 'call_4', { priceKeys }),
    ],
  });
  await on.billing.placeHold(order(on, 'task_1'));
  await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 6n });
  const toEnd = (callId: keyof typeof usages) => ({
    callId,
    basis: Basis.USAGE,
    usage: { inputTokens: 1000n, outputTokens: 100n, ...usages[callId] },
  });
  await on.calls.settleCalls({ ends: [toEnd('call_1'), toEnd('call_2'), usedTokens('call_4', 5n, 5n)] });
  await on.clock.advance(HOUR_MS + 1);
  await on.calls.settleCalls({ ends: [toEnd('call_3')] });
}

const read = ({ usage }: TestBilling, groupBy: UsageGroup, to = END) =>
  usage.getUsage({ accountId: 'demo', from: timestampFromMs(START), to: timestampFromMs(to), groupBy });
const hours = async ({ sql }: TestBilling) => [
  await sql.read('SELECT * FROM usage_hours ORDER BY account_id, hour, token_id, price_key'),
  await sql.read('SELECT * FROM label_hours ORDER BY account_id, hour, label, token_id, price_key'),
];

const OF_ALL = {
  parts: {
    cacheWrite: 333n,
    cacheWrite1h: 100n,
    reasoning: 7n,
    audioInput: 5n,
    imageOutput: 4n,
    cachedAudio: 1_000_000_000n,
    imageInput: 0n,
  },
  searches: 3n,
};

describeOnEngines('the parts of tokens and the searches', (open) => {
  test.each([
    ['whole hours', END],
    ['partial hours', START + HOUR_MS + 2],
  ])('are summed by group, from %s', async (_what, to) => {
    const on = await open(config);
    await fillAccount(on);

    const byModel = await read(on, UsageGroup.MODEL, to);
    expect(byModel.total).toMatchObject(OF_ALL);
    expect(byModel.groups).toMatchObject([
      { key: 'Alpha-H3', parts: { cacheWrite: 0n }, searches: 0n },
      { key: 'claude', ...OF_ALL },
    ]);
    expect((await read(on, UsageGroup.DAY, to)).groups).toMatchObject([{ key: '2026-01-01', ...OF_ALL }]);
    expect((await read(on, UsageGroup.LABEL, to)).groups).toMatchObject([
      { key: '', parts: { cacheWrite: 33n, cacheWrite1h: 0n, audioInput: 5n, reasoning: 0n }, searches: 1n },
      { key: 'spring', parts: { cacheWrite: 300n, cacheWrite1h: 100n, audioInput: 0n, reasoning: 7n }, searches: 2n },
    ]);
    await expectSound(on);
  });

  test('are counted again from the calls as their settlements counted them', async () => {
    const on = await open(config);
    await fillAccount(on);
    const before = await hours(on);
    expect(await on.accounts.rebuildBalances({})).toMatchObject({ accountIds: [] });
    await on.sql.write('DELETE FROM usage_hours');
    await on.sql.write('UPDATE label_hours SET searches = searches + 1');

    expect(await on.accounts.rebuildBalances({})).toMatchObject({ accountIds: ['demo'] });
    expect(await hours(on)).toEqual(before);
  });
});
