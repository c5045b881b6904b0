import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test } from '@jest/globals';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

let console: OperatorUnderTest | undefined;
afterEach(async () => {
  await console?.stop();
  console = undefined;
});

test('the money of all accounts has what is held, what was settled and the margin', async () => {
  console = await startOperatorUnderTest({
    operator: {
      accounts: {
        getMoney: async () => ({
          held: [{ currency: 'USD', balanceNanos: 5_000_000_000n, heldNanos: 400_000_000n, accounts: 2n }],
          settled: [{ priceKey: 'Alpha-H3', currency: 'USD', requests: 3n, chargedNanos: 1_200_000_000n }],
          margins: [
            {
              channel: 'one',
              priceKey: 'Alpha-H3',
              currency: 'USD',
              requests: 3n,
              chargedNanos: 1_200_000_000n,
              costNanos: 1_500_000_000n,
              reportedRequests: 2n,
              reportedCostNanos: 1_100_000_000n,
            },
          ],
          overruns: 1n,
          overrunNanos: 20_000_000n,
          lapses: 4n,
          lastCheck: { at: timestampFromMs(5), tookMs: 12n, ok: false, entries: 7n, faults: ['off'], actor: 'ada' },
        }),
        listPrices: async () => ({
          contracts: [
            { key: 'Alpha-H3', version: 2, sinceMs: 3n, current: true, termsJson: '{"per_second":{"768P":"0.08"}}' },
          ],
        }),
      },
    },
  });
  const { json } = await console.as('viewer', 'GET', '/money?from=2026-01-01&to=2026-01-31');
  const usd = (amount: string) => ({ amount, currency: 'USD' });

  expect(json).toMatchObject({
    from: Date.UTC(2026, 0, 1),
    to: Date.UTC(2026, 1, 1),
    held: [{ balance: usd('5'), held: usd('0.4'), accounts: 2 }],
    settled: [{ priceKey: 'Alpha-H3', charged: usd('1.2'), requests: 3 }],
    margins: [
      {
        ...{ channel: 'one', priceKey: 'Alpha-H3', charged: usd('1.2'), cost: usd('1.5'), margin: usd('-0.3') },
        reported: { cost: usd('1.1'), requests: 2 },
        estimated: { cost: usd('0.4'), requests: 1 },
      },
    ],
    overruns: 1,
    overrunAmount: '0.02',
    lapses: 4,
    lastCheck: { at: 5, tookMs: 12, ok: false, entries: 7, faults: ['off'], actor: 'ada' },
    contracts: [{ key: 'Alpha-H3', version: 2, since: 3, isCurrent: true, terms: { per_second: { '768P': '0.08' } } }],
    canVerify: false,
  });
});

test('the period has at most thirty-one days', async () => {
  const spans: number[] = [];
  console = await startOperatorUnderTest({
    operator: {
      accounts: {
        getMoney: async ({ from, to }) => {
          spans.push((timestampMs(to!) - timestampMs(from!)) / DAY_MS);
          return {};
        },
      },
    },
  });
  const tooLong = await console.as('viewer', 'GET', '/money?from=2026-01-01&to=2026-02-01');
  await console.as('viewer', 'GET', '/money?from=2026-01-01&to=2026-01-31');
  await console.as('viewer', 'GET', '/money');

  expect({ status: tooLong.status, param: tooLong.json.error.param }).toEqual({ status: 400, param: 'to' });
  expect(spans).toEqual([31, 30]);
});

test('a treasurer has the books checked in their own name', async () => {
  const asked: string[] = [];
  console = await startOperatorUnderTest({
    operator: {
      accounts: {
        verifyLedger: async ({ actor }) => {
          asked.push(actor);
          return { ok: false, entries: 9n, faults: Array.from({ length: 30 }, (_, at) => `fault ${at}`) };
        },
      },
    },
  });
  const { json } = await console.as('treasurer', 'POST', '/money/verify');

  expect(json).toMatchObject({ ok: false, entries: 9, actor: 'treasurer' });
  expect(json.faults).toHaveLength(20);
  expect(asked).toEqual(['treasurer']);
  expect((await console.as('treasurer', 'GET', '/money')).json.canVerify).toBe(true);
});
