import { expect, test } from '@jest/globals';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { UsageGroup } from '@reelgate/proto/billing/v1/usage_service';
import type { ChargedItem } from '@reelgate/proto/billing/v1/usage_service';
import { CHAT_PRICES, HOUR_MS, callOrder, usedTokens } from '../../../testing/call-orders.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';

const START = Date.UTC(2026, 0, 1);
const DAY_MS = 24 * HOUR_MS;
const PAGES_MAX = 20;
const config = aConfig({ prices: { ...PRICES, ...CHAT_PRICES }, token: { name: 'main' } });

const listItems = (
  { usage }: TestBilling,
  { after = '', limit = 0, from = START, to = START + 30 * DAY_MS, accountId = 'demo' } = {},
) => usage.listChargedItems({ accountId, from: timestampFromMs(from), to: timestampFromMs(to), after, limit });

/** Every item, in pages of this size. */
async function listAll(on: TestBilling, limit: number): Promise<ChargedItem[]> {
  const items: ChargedItem[] = [];
  let after = '';
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const found = await listItems(on, { limit, after });
    items.push(...found.items);
    if (found.continueAfter === '') return items;
    after = found.continueAfter;
  }
  throw new Error('the pages do not end');
}

/** Two tasks and two calls that are charged at the same moment, one task later, and one of each that is released. */
async function fillAccount(on: TestBilling): Promise<void> {
  const lapsesAt = timestampFromMs(START + 30 * DAY_MS);
  for (const id of ['task_b', 'task_a', 'task_c', 'task_free']) await on.billing.placeHold(order(on, id));
  const calls = ['call_a', 'call_b', 'call_free'].map((id) => callOrder(on, id, { lapsesAt }));
  await on.calls.placeCalls({ calls });
  await on.billing.settleHold({ taskId: 'task_b', totalSeconds: 6n });
  await on.billing.settleHold({ taskId: 'task_a' });
  await on.billing.releaseHold({ taskId: 'task_free' });
  await on.calls.settleCalls({
    ends: [
      usedTokens('call_b', 500n, 100n),
      usedTokens('call_a', 10n, 0n),
      { callId: 'call_free', basis: Basis.RELEASED },
    ],
  });
  await on.clock.advance(HOUR_MS);
  await on.billing.settleHold({ taskId: 'task_c' });
}

const ORDER = ['call_a', 'call_b', 'task_a', 'task_b', 'task_c'];

describeOnEngines('the list of charged items', (open) => {
  test('has each charged task and call once, the oldest settlement first', async () => {
    const on = await open(config);
    await fillAccount(on);

    expect((await listAll(on, 1000)).map(({ id }) => id)).toEqual(ORDER);
  });

  test.each([1, 2, 3, 5])('is the same in pages of %d', async (limit) => {
    const on = await open(config);
    await fillAccount(on);

    expect((await listAll(on, limit)).map(({ id }) => id)).toEqual(ORDER);
  });

  test('has the parts of the tokens and the searches that were reported', async () => {
    const on = await open(config);
    await on.calls.placeCalls({ calls: ['call_a', 'call_b'].map((id) => callOrder(on, id)) });
    const parts = { cacheWrite: 30n, cacheWrite1h: 10n, reasoning: 5n };
    await on.calls.settleCalls({
      ends: [
        { callId: 'call_a', basis: Basis.USAGE, usage: { inputTokens: 50n, outputTokens: 9n, parts, searches: 2n } },
        usedTokens('call_b', 50n, 9n),
      ],
    });

    const [reported, plain] = await listAll(on, 10);

    expect(reported).toMatchObject({ id: 'call_a', parts, searches: 2n });
    expect(reported!.parts).toMatchObject({ audioInput: 0n, imageOutput: 0n });
    expect(plain).toMatchObject({ id: 'call_b', parts: { cacheWrite: 0n, reasoning: 0n }, searches: 0n });
  });

  test('sums to the statement of the same period', async () => {
    const on = await open(config);
    await fillAccount(on);
    const { total } = await on.usage.getUsage({
      accountId: 'demo',
      from: timestampFromMs(START),
      to: timestampFromMs(START + DAY_MS),
      groupBy: UsageGroup.MODEL,
    });

    const usages = (await listAll(on, 2)).map(({ usage }) => usage!);
    const sum = (count: (one: (typeof usages)[number]) => bigint): bigint =>
      usages.reduce((all, usage) => all + count(usage), 0n);

    expect({
      amount: sum(({ amountNanos }) => amountNanos),
      requests: sum(({ requests }) => requests),
      seconds: sum(({ seconds }) => seconds),
      inputTokens: sum(({ inputTokens }) => inputTokens),
    }).toEqual({
      amount: total?.amountNanos,
      requests: total?.requests,
      seconds: total?.seconds,
      inputTokens: total?.inputTokens,
    });
  });

  test('names the model, the token, the source of the charge and its time', async () => {
    const on = await open(config);
    await fillAccount(on);

    const [call, , , task, last] = await listAll(on, 10);

    expect(call).toMatchObject({ id: 'call_a', tokenName: 'main', basis: Basis.USAGE, usage: { key: 'chat' } });
    expect(task).toMatchObject({ id: 'task_b', tokenId: on.tokenId, basis: Basis.USAGE, usage: { key: 'Alpha-H3' } });
    expect(last).toMatchObject({ id: 'task_c', basis: Basis.ESTIMATE });
    expect(timestampMs(last!.settledAt!)).toBe(START + HOUR_MS);
  });

  test.each([
    ['before the first settlement', START - DAY_MS, START, []],
    ['of the first millisecond', START, START + 1, ORDER.slice(0, 4)],
    ['from the second settlement', START + HOUR_MS, START + HOUR_MS + 1, ['task_c']],
  ] as const)('has the items of a period %s', async (_what, from, to, ids) => {
    const on = await open(config);
    await fillAccount(on);

    expect((await listItems(on, { from, to })).items.map(({ id }) => id)).toEqual(ids);
  });

  test('shows no item of another account', async () => {
    const on = await open({
      ...config,
      accounts: [...config.accounts, { id: 'other', currency: 'EUR', credit: '1', tokens: [] }],
    });
    await fillAccount(on);

    expect(await listItems(on, { accountId: 'other' })).toMatchObject({ items: [], currency: 'EUR' });
    await expect(listItems(on, { accountId: 'none' })).rejects.toMatchObject({ reason: 'account_not_found' });
  });

  test.each(['x', '1:', ':task_a', '1234567890123456:task_a'])('refuses the place %j', async (after) => {
    const on = await open(config);

    await expect(listItems(on, { after })).rejects.toMatchObject({ kind: 'invalid', field: 'after' });
  });
});
