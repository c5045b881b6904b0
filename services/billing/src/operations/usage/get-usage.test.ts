import { expect, test } from '@jest/globals';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { UsageGroup } from '@reelgate/proto/billing/v1/usage_service';
import { CENT, expectSound } from '../../../testing/books.ts';
import { CHAT_PRICES, HOUR_MS, callOrder, usedTokens } from '../../../testing/call-orders.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';

const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 0, 1);
const MILL = CENT / 10n;
const config = aConfig({ prices: { ...PRICES, ...CHAT_PRICES }, token: { name: 'main' } });

const statement = (
  { usage }: TestBilling,
  groupBy: UsageGroup,
  [from, to]: readonly [number, number] = [START, START + 30 * DAY_MS],
) => usage.getUsage({ accountId: 'demo', from: timestampFromMs(from), to: timestampFromMs(to), groupBy });

/**
 * A task and its regeneration on the first day, one call by each of two tokens a day and half an hour later, and
 * tasks and calls that are not charged.
 */
async function aHistory(on: TestBilling): Promise<string> {
  const { token } = await on.accounts.createToken({ accountId: 'demo', name: 'ci', models: ['*'] });
  await on.billing.placeHold(order(on, 'task_1', { images: 2n }));
  await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 6n });
  await on.billing.placeHold(order(on, 'task_2', { priceKey: 'Alpha-H3__regeneration', resolution: '' }));
  await on.billing.settleHold({ taskId: 'task_2' });
  await on.billing.placeHold(order(on, 'task_3'));
  await on.billing.releaseHold({ taskId: 'task_3' });
  await on.billing.placeHold(order(on, 'task_4'));
  const lapsesAt = timestampFromMs(START + 30 * DAY_MS);
  await on.calls.placeCalls({
    calls: [
      callOrder(on, 'call_1', { lapsesAt }),
      callOrder(on, 'call_2', { lapsesAt, tokenId: token!.id }),
      callOrder(on, 'call_3', { lapsesAt }),
      callOrder(on, 'call_4', { lapsesAt }),
    ],
  });
  await on.clock.advance(DAY_MS + HOUR_MS / 2);
  await on.calls.settleCalls({
    ends: [
      usedTokens('call_1', 500n, 100n),
      { ...usedTokens('call_2', 1000n, 0n) },
      { callId: 'call_3', basis: Basis.RELEASED },
    ],
  });
  return token!.id;
}

const OF_TASKS = { amountNanos: 73n * CENT, requests: 2n, seconds: 11n, images: 2n, inputTokens: 0n };
const OF_CALLS = { amountNanos: (19n * MILL) / 10n, requests: 2n, seconds: 0n, inputTokens: 1500n, outputTokens: 100n };

describeOnEngines('a statement', (open) => {
  test('counts charged tasks and calls by model', async () => {
    const on = await open(config);
    await aHistory(on);

    const { groups, total, currency, truncated } = await statement(on, UsageGroup.MODEL);

    expect(groups).toMatchObject([
      { key: 'Alpha-H3', ...OF_TASKS },
      { key: 'chat', ...OF_CALLS },
    ]);
    expect(total).toMatchObject({
      key: '',
      amountNanos: OF_TASKS.amountNanos + OF_CALLS.amountNanos,
      requests: 4n,
      seconds: 11n,
      inputTokens: 1500n,
      outputTokens: 100n,
      images: 2n,
    });
    expect({ currency, truncated }).toEqual({ currency: 'USD', truncated: false });
    await expectSound(on);
  });

  test.each([
    [UsageGroup.MODEL, ['2026-01-01 Alpha-H3', '2026-01-02 chat'], ['', '']],
    [UsageGroup.TOKEN, ['2026-01-01 main', '2026-01-02 main', '2026-01-02 ci'], ['main', 'main', 'ci']],
  ])('splits days by %s, and the parts of a day sum to it', async (splitBy, parts, names) => {
    const on = await open(config);
    const ids = new Map([
      [await aHistory(on), 'ci'],
      [on.tokenId, 'main'],
    ]);
    const period = {
      accountId: 'demo',
      from: timestampFromMs(START),
      to: timestampFromMs(START + DAY_MS + HOUR_MS / 2 + 1),
    };
    const ask = { ...period, groupBy: UsageGroup.DAY };

    const { groups, total } = await on.usage.getUsage({ ...ask, splitBy });

    expect(groups.map(({ key, splitKey }) => `${key} ${ids.get(splitKey) ?? splitKey}`).sort()).toEqual(
      parts.toSorted(),
    );
    expect(groups.map(({ splitName }) => splitName).sort()).toEqual(names.toSorted());
    expect(total).toEqual((await on.usage.getUsage(ask)).total);
    expect(groups.reduce((sum, { amountNanos }) => sum + amountNanos, 0n)).toBe(total?.amountNanos);
  });

  test.each([
    [UsageGroup.MODEL, UsageGroup.TOKEN],
    [UsageGroup.DAY, UsageGroup.DAY],
  ])('splits only days, and only by model or token', async (groupBy, splitBy) => {
    const on = await open(config);
    const period = { accountId: 'demo', from: timestampFromMs(START), to: timestampFromMs(START + DAY_MS) };

    await expect(on.usage.getUsage({ ...period, groupBy, splitBy })).rejects.toMatchObject({ field: 'split_by' });
  });

  test('takes the model of a key from the configuration, or from the key once the model is removed', async () => {
    const prices = Object.fromEntries(
      ['my__model', 'my__model__regeneration', 'plain', 'plain__regeneration', 'old__one__regeneration'].map((key) => [
        key,
        PRICES['Alpha-H3__regeneration'],
      ]),
    );
    const on = await open({
      ...aConfig({ prices }),
      models: { my__model: {} },
      channels: [{ models: { plain: 'upstream-plain' } }],
    });
    for (const [at, priceKey] of Object.keys(prices).entries()) {
      await on.billing.placeHold(order(on, `task_${at}`, { priceKey, resolution: '' }));
      await on.billing.settleHold({ taskId: `task_${at}` });
    }

    expect((await statement(on, UsageGroup.MODEL)).groups.map(({ key, requests }) => [key, requests])).toEqual([
      ['my__model', 2n],
      ['old__one', 1n],
      ['plain', 2n],
    ]);
  });

  test('is grouped by the day of the settlement, and by token with its name', async () => {
    const on = await open(config);
    const other = await aHistory(on);

    expect((await statement(on, UsageGroup.DAY)).groups).toMatchObject([
      { key: '2026-01-01', ...OF_TASKS },
      { key: '2026-01-02', ...OF_CALLS },
    ]);
    expect((await statement(on, UsageGroup.TOKEN)).groups).toMatchObject([
      { key: on.tokenId, name: 'main', requests: 3n },
      { key: other, name: 'ci', requests: 1n, amountNanos: MILL },
    ]);
  });

  test.each([
    ['from the settlement', [START + DAY_MS + HOUR_MS / 2, START + 2 * DAY_MS], 2n],
    ['up to the settlement', [START + 1, START + DAY_MS + HOUR_MS / 2], 0n],
    ['of the first millisecond', [START, START + 1], 2n],
    ['within one hour', [START + DAY_MS + HOUR_MS / 4, START + DAY_MS + HOUR_MS - 1], 2n],
    ['across two hours', [START + DAY_MS + HOUR_MS / 4, START + DAY_MS + 2 * HOUR_MS - 1], 2n],
    ['across all of it, cut at both ends', [START + 1, START + DAY_MS + HOUR_MS / 2 + 1], 2n],
    ['of whole hours', [START, START + HOUR_MS], 2n],
  ] as const)('is exact %s', async (_what, span, requests) => {
    const on = await open(config);
    await aHistory(on);

    expect((await statement(on, UsageGroup.MODEL, span)).total?.requests).toBe(requests);
  });

  test('shows no usage of another account', async () => {
    const on = await open({
      ...config,
      accounts: [...config.accounts, { id: 'other', currency: 'EUR', credit: '1', tokens: [] }],
    });
    await aHistory(on);
    const span = { from: timestampFromMs(START), to: timestampFromMs(START + DAY_MS), groupBy: UsageGroup.DAY };

    expect(await on.usage.getUsage({ accountId: 'other', ...span })).toMatchObject({
      groups: [],
      currency: 'EUR',
      total: { requests: 0n, amountNanos: 0n },
    });
    await expect(on.usage.getUsage({ accountId: 'nobody', ...span })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'account_not_found',
    });
  });

  test.each([
    ['a missing time', { groupBy: UsageGroup.DAY }, 'from'],
    ['a missing group', { from: timestampFromMs(START), to: timestampFromMs(START + 1) }, 'group_by'],
    [
      'an end before its start',
      { from: timestampFromMs(START), to: timestampFromMs(START), groupBy: UsageGroup.DAY },
      'to',
    ],
    [
      'more than a year',
      { from: timestampFromMs(START), to: timestampFromMs(START + 367 * DAY_MS), groupBy: UsageGroup.DAY },
      'to',
    ],
    ['a negative time', { from: timestampFromMs(-1), to: timestampFromMs(1), groupBy: UsageGroup.DAY }, 'from'],
  ])('is refused with %s', async (_what, wrong, field) => {
    const on = await open(config);

    await expect(on.usage.getUsage({ accountId: 'demo', ...wrong })).rejects.toMatchObject({ kind: 'invalid', field });
  });

  test('caps each reported quantity at a thousand million', async () => {
    const on = await open(aConfig({ prices: { free: { per_second: '0' } } }));
    for (const taskId of ['task_1', 'task_2', 'task_3']) {
      await on.billing.placeHold(order(on, taskId, { priceKey: 'free', resolution: '' }));
      await on.billing.settleHold({ taskId, totalSeconds: 2n ** 62n });
    }

    expect((await statement(on, UsageGroup.MODEL)).total).toMatchObject({
      requests: 3n,
      amountNanos: 0n,
      seconds: 3_000_000_000n,
    });
  });

  test('is reported by the audit when its hours are changed by hand', async () => {
    const on = await open(config);
    await aHistory(on);
    await on.sql.write('UPDATE usage_hours SET charged_nanos = charged_nanos + 1 WHERE price_key = $1', ['chat']);

    expect(await on.accounts.verifyLedger({})).toMatchObject({
      ok: false,
      faults: ['the hourly usage of the account demo differs from its charges'],
    });
  });
});
