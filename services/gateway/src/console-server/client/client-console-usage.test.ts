import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { UsageGroup } from '@reelgate/proto/billing/v1/usage_service';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { signIn } from '../../../testing/signed-in.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

let under: GatewayUnderTest;
beforeEach(async () => {
  under = await startGatewayUnderTest();
});
afterEach(() => under.stop());

test('usage has one amount for each day and series, the largest series first', async () => {
  under.usage.groups = [
    { key: '2026-01-01', splitKey: 'Beta-V1', amountNanos: 100_000_000n, requests: 1n, seconds: 4n },
    { key: '2026-01-03', splitKey: 'Alpha-H3', amountNanos: 500_000_000n, requests: 2n, seconds: 10n },
    { key: '2026-01-03', splitKey: 'Beta-V1', amountNanos: 200_000_000n, requests: 3n, images: 2n },
  ];
  const at = await signIn(under);
  const { json } = await at.get('/usage?from=2026-01-01&to=2026-01-03');

  expect(json).toMatchObject({
    currency: 'USD',
    from: Date.UTC(2026, 0, 1),
    to: Date.UTC(2026, 0, 4),
    split: 'model',
    days: ['2026-01-01', '2026-01-02', '2026-01-03'],
    series: [
      { key: 'Alpha-H3', name: 'Alpha-H3', amounts: ['0', '0', '0.5'], total: { amount: '0.5', requests: 2 } },
      {
        key: 'Beta-V1',
        amounts: ['0.1', '0', '0.2'],
        total: { amount: '0.3', requests: 4, seconds: 4, images: 2, inputTokens: 0, outputTokens: 0 },
      },
    ],
    total: { amount: '0.73', requests: 2 },
    isTruncated: false,
  });
  expect(under.usage.asked).toContainEqual(
    expect.objectContaining({ accountId: 'demo', groupBy: UsageGroup.DAY, splitBy: UsageGroup.MODEL }),
  );
});

test('a token is shown by its name', async () => {
  under.usage.groups = [{ key: '2026-01-01', splitKey: 'token_1', splitName: 'batch', amountNanos: 1n }];
  const at = await signIn(under);

  expect((await at.get('/usage?from=2026-01-01&to=2026-01-01&split=token')).json.series).toMatchObject([
    { key: 'token_1', name: 'batch' },
  ]);
  expect(under.usage.asked).toContainEqual(expect.objectContaining({ splitBy: UsageGroup.TOKEN }));
});

test('without dates the view has the last thirty days, with today', async () => {
  const at = await signIn(under);
  await at.get('/usage');
  const [{ from, to } = {}] = under.usage.asked;
  const end = timestampMs(to!);

  expect(end - timestampMs(from!)).toBe(30 * DAY_MS);
  expect(end % DAY_MS).toBe(0);
  expect(end - under.clock.now()).toBeGreaterThan(0);
  expect(end - under.clock.now()).toBeLessThanOrEqual(DAY_MS);
});

test.each([
  ['to', 'from=2026-01-01&to=2026-04-03'],
  ['to', 'from=2026-01-02&to=2026-01-01'],
  ['from', 'from=yesterday'],
  ['split', 'split=day'],
])('a wrong %s is refused: %s', async (field, query) => {
  const at = await signIn(under);
  const { status, json } = await at.get(`/usage?${query}`);

  expect({ status, param: json.error.param }).toEqual({ status: 400, param: field });
  expect(under.usage.asked).toEqual([]);
});

test('ninety-two days fit', async () => {
  const at = await signIn(under);

  expect((await at.get('/usage?from=2026-01-01&to=2026-04-02')).json.days).toHaveLength(92);
});

test('the same number of days before is beside the period', async () => {
  const at = await signIn(under);
  const { json } = await at.get('/usage?from=2026-01-03&to=2026-01-05&split=token');

  expect(json.before).toMatchObject({
    from: Date.UTC(2025, 11, 31),
    to: Date.UTC(2026, 0, 3),
    total: { amount: '0.73' },
    amounts: { '2026-01-01': '0.73' },
  });
  expect(under.usage.asked).toContainEqual(expect.objectContaining({ groupBy: UsageGroup.TOKEN }));
});
