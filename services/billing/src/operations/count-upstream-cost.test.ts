import { describe, expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { callOrder, usedTokens } from '../../testing/call-orders.ts';
import { opener } from '../../testing/describe-on-engines.ts';
import { aConfig, order, temporaryLocation } from '../../testing/open-billing.ts';
import type { ConfigValue, TestBilling } from '../../testing/open-billing.ts';

const open = opener(async () => temporaryLocation());

const UPSTREAM_PRICES = {
  'Alpha-H3': { per_second: { '768P': '0.05' }, images: { free: 5, each: '0.02' } },
  'Alpha-H3__context_ir': { per_million_tokens: { input: '0.50', output: '2' }, hold: '0.03' },
};
const priced = (prices: Readonly<Record<string, object>> = UPSTREAM_PRICES): ConfigValue => ({
  ...aConfig(),
  models: { 'Alpha-H3': {} },
  channels: [
    { id: 'vendor', models: { 'Alpha-H3': 'up' }, upstream_prices: prices },
    { id: 'unpriced', models: { 'Alpha-H3': 'up' } },
  ],
});
const NAME = 'reelgate_money_upstream_cost_total';
const costs = async ({ metrics }: TestBilling): Promise<readonly string[]> =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith(`${NAME}{`));
const costOf = (amount: string): readonly string[] => [
  `${NAME}{channel="vendor",model="Alpha-H3",currency="USD",source="estimated"} ${amount}`,
];
const COMPLETED = { taskId: 'task_1', state: TaskState.COMPLETED, channel: 'vendor' };
const FAR_ABOVE_THE_HOLD = { usage: { inputTokens: 0n, outputTokens: 50_000n } };
const TOKENS = { priceKey: 'Alpha-H3__context_ir', resolution: '', seconds: 0n };

describe('the upstream cost of a charged task', () => {
  test.each<[string, Parameters<typeof order>[2], object, readonly string[]]>([
    ['is by the reported seconds', {}, { usage: { totalSeconds: 6n } }, costOf('0.3')],
    ['is by the seconds of the order if none were reported', {}, {}, costOf('0.25')],
    ['has the images of the order', { images: 7n }, {}, costOf('0.29')],
    [
      'is by the reported tokens',
      TOKENS,
      { usage: { promptTokens: 100_000n, completionTokens: 10_000n } },
      costOf('0.07'),
    ],
    ['is the hold of the upstream price if tokens are unknown', TOKENS, {}, costOf('0.03')],
    ['is unknown for a resolution without an upstream price', { resolution: '2K' }, {}, []],
    ['is unknown for an operation without one', { priceKey: 'Alpha-H3__regeneration', resolution: '' }, {}, []],
    ['is unknown for a channel without one', {}, { channel: 'unpriced' }, []],
    ['is unknown for a channel that is no longer configured', {}, { channel: 'removed' }, []],
    ['is unknown without a channel', {}, { channel: '' }, []],
  ])('%s', async (_what, facts, finished, expected) => {
    const on = await open(priced());
    await on.billing.placeHold(order(on, 'task_1', facts));

    await on.finish({ ...COMPLETED, ...finished });

    expect(await costs(on)).toEqual(expected);
  });

  test('has no series without upstream prices', async () => {
    const on = await open({ ...aConfig(), models: { 'Alpha-H3': {} } });
    await on.billing.placeHold(order(on, 'task_1'));

    await on.finish(COMPLETED);

    expect(await on.metrics.text()).toContain('reelgate_money_settled_total{');
    expect(await costs(on)).toEqual([]);
  });

  test('is counted once, however often the end of the task is delivered', async () => {
    const on = await open(priced());
    await on.billing.placeHold(order(on, 'task_1'));

    await on.finish({ ...COMPLETED, usage: { totalSeconds: 6n } });
    await on.finish({ ...COMPLETED, usage: { totalSeconds: 6n } });
    await Promise.all(
      [9n, 9n].map((totalSeconds) => on.billing.settleHold({ taskId: 'task_1', totalSeconds, channel: 'vendor' })),
    );

    expect(await costs(on)).toEqual(costOf('0.3'));
  });

  test('is not counted again by another process that gets the same end', async () => {
    const first = await open(priced());
    await first.billing.placeHold(order(first, 'task_1'));
    await first.finish(COMPLETED);
    expect(await costs(first)).toEqual(costOf('0.25'));

    const second = await first.restart();
    await second.finish(COMPLETED);

    expect(await costs(second)).toEqual([]);
  });

  test('is not counted before an operator confirms a charge far above the hold', async () => {
    const on = await open(priced());
    await on.billing.placeHold(order(on, 'task_1'));
    const used = { taskId: 'task_1', totalSeconds: 51n, channel: 'vendor' };

    await on.billing.settleHold(used);
    expect(await costs(on)).toEqual([]);
    await on.billing.settleHold({ ...used, confirmed: true });

    expect(await costs(on)).toEqual(costOf('2.55'));
  });

  test('is not counted for a failed task that the upstream reports no charge of', async () => {
    const on = await open(priced());
    await on.billing.placeHold(order(on, 'task_1'));

    await on.finish({ ...COMPLETED, state: TaskState.FAILED });

    expect(await costs(on)).toEqual([]);
  });

  test('is by the upstream prices of the current configuration', async () => {
    const on = await open(priced());
    await on.billing.placeHold(order(on, 'task_1'));
    await on.service.reload(priced({ 'Alpha-H3': { per_second: '0.01' } }));

    await on.finish(COMPLETED);

    expect(await costs(on)).toEqual(costOf('0.05'));
  });
});

describe('the upstream cost of a charged call', () => {
  const CHAT = { per_million_tokens: { input: '1', output: '4' }, hold: '0.01' };
  const withChat = (prices: Readonly<Record<string, object>>): ConfigValue => ({
    ...aConfig({ prices: { chat: CHAT } }),
    models: { chat: {} },
    channels: [{ id: 'text', models: { chat: 'up' }, upstream_prices: prices }],
  });
  const UPSTREAM_CHAT = { chat: { per_million_tokens: { input: '0.5', output: '2' }, hold: '0.004' } };
  const chatCost = (amount: string): readonly string[] => [
    `${NAME}{channel="text",model="chat",currency="USD",source="estimated"} ${amount}`,
  ];
  const BY_USAGE = { ...usedTokens('call_1', 1000n, 200n), channel: 'text' };

  test.each<[string, Parameters<typeof callOrder>[2], object, readonly string[]]>([
    ['is by the reported tokens', {}, {}, chatCost('0.0009')],
    ['is by the estimated tokens of a call that broke off', {}, { basis: Basis.ESTIMATE }, chatCost('0.0009')],
    ['is by the whole usage, although a part of it is not charged', {}, FAR_ABOVE_THE_HOLD, chatCost('0.1')],
    [
      'is the hold of the upstream price if no tokens are known',
      { facts: {} },
      { basis: Basis.HOLD, usage: undefined },
      chatCost('0.004'),
    ],
    ['is not counted for a released call', {}, { basis: Basis.RELEASED }, []],
    ['is unknown for a channel without one', {}, { channel: 'other' }, []],
    ['is unknown without a channel', {}, { channel: '' }, []],
  ])('%s', async (_what, ordered, ended, expected) => {
    const on = await open(withChat(UPSTREAM_CHAT));
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_1', ordered)] });

    await on.calls.settleCalls({ ends: [{ ...BY_USAGE, ...ended }] });

    expect(await costs(on)).toEqual(expected);
  });

  test('is unknown for a price key without one', async () => {
    const on = await open(withChat({ chat__embeddings: CHAT }));
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] });

    await on.calls.settleCalls({ ends: [BY_USAGE] });

    expect(await costs(on)).toEqual([]);
  });

  test('is counted once, however often the end of the call is sent', async () => {
    const on = await open(withChat(UPSTREAM_CHAT));
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] });

    await on.calls.settleCalls({ ends: [BY_USAGE, BY_USAGE] });
    await Promise.all([BY_USAGE, BY_USAGE].map((end) => on.calls.settleCalls({ ends: [end] })));

    expect(await costs(on)).toEqual(chatCost('0.0009'));
  });
});
