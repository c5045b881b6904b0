import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test } from '@jest/globals';
import { MarginBucket, MarginSplit } from '@reelgate/proto/billing/v1/account_service';
import type { GetMarginsRequest, GetMarginsResponseSchema } from '@reelgate/proto/billing/v1/account_service';
import type { MarginSumSchema } from '@reelgate/proto/billing/v1/money';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const FIRST = Date.UTC(2026, 0, 1);
const CENT = 10_000_000n;
const PERIOD = 'from=2026-01-01&to=2026-01-03';

type Sum = MessageInitShape<typeof MarginSumSchema>;

/** Two requests with a known cost, of which one was reported, and one without. */
const SUM: Sum = {
  ...{ requests: 2n, chargedNanos: 80n * CENT, costNanos: 95n * CENT },
  ...{ reportedRequests: 1n, reportedChargedNanos: 40n * CENT, reportedCostNanos: 30n * CENT },
  ...{ uncostedRequests: 1n, uncostedChargedNanos: 7n * CENT },
};
const LOSS: Sum = { requests: 1n, costNanos: 5n * CENT, reportedRequests: 1n, reportedCostNanos: 5n * CENT };
const ANSWER: MessageInitShape<typeof GetMarginsResponseSchema> = {
  groups: [
    { key: 'one', currency: 'EUR', total: LOSS, parts: [{ beginsAt: timestampFromMs(FIRST), sum: LOSS }] },
    { key: '=one', currency: 'USD', total: SUM, parts: [{ beginsAt: timestampFromMs(FIRST + DAY_MS), sum: SUM }] },
    { rest: true, currency: 'USD', total: LOSS, parts: [{ beginsAt: timestampFromMs(FIRST), sum: LOSS }] },
  ],
};

let console: OperatorUnderTest | undefined;
let asked: GetMarginsRequest[] = [];
afterEach(async () => {
  await console?.stop();
  console = undefined;
  asked = [];
});

async function open(answer = ANSWER): Promise<OperatorUnderTest> {
  console = await startOperatorUnderTest({
    operator: {
      accounts: {
        getMargins: async (request) => {
          asked.push(request);
          return answer;
        },
      },
    },
  });
  return console;
}

test.each([
  [PERIOD, { splitBy: MarginSplit.CHANNEL, bucket: MarginBucket.DAY, key: '', limit: 100 }],
  [`${PERIOD}&split=account&key=demo`, { splitBy: MarginSplit.ACCOUNT, key: 'demo' }],
  ['from=2026-01-01&to=2026-01-02&split=model', { splitBy: MarginSplit.MODEL, bucket: MarginBucket.HOUR }],
])('of %s billing is asked for its split, and for hours if the period is short', async (query, expected) => {
  const { as } = await open();
  await as('viewer', 'GET', `/money/margins.csv?${query}`);

  expect(asked).toMatchObject([expected]);
  expect(timestampMs(asked[0]!.from!)).toBe(FIRST);
});

test('a file has a line for each group and part, and no cell that a spreadsheet runs', async () => {
  const { as } = await open();
  const { text, headers } = await as('viewer', 'GET', `/money/margins.csv?${PERIOD}&split=model`);

  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(headers['content-disposition']).toContain('reelgate-margins.csv');
  expect(text.split('\r\n')).toEqual([
    'day,model,is_rest,currency,requests,charged_with_known_cost,margin,measured_requests,measured_charged,measured_cost,' +
      'estimated_requests,estimated_charged,estimated_cost,unknown_cost_requests,unknown_cost_charged',
    '2026-01-01T00:00:00.000Z,one,false,EUR,1,0,-0.05,1,0,0.05,0,0,0,0,0',
    "2026-01-02T00:00:00.000Z,'=one,false,USD,3,0.8,-0.15,1,0.4,0.3,1,0.4,0.65,1,0.07",
    '2026-01-01T00:00:00.000Z,all others,true,USD,1,0,-0.05,1,0,0.05,0,0,0,0,0',
    '',
  ]);
});

test.each([
  ['from=2026-01-01&to=2026-04-03', 'to'],
  [`${PERIOD}&split=token`, 'split'],
  [`${PERIOD}&key=${'k'.repeat(257)}`, 'key'],
])('%s is refused before billing is asked', async (query, param) => {
  const { as } = await open();
  const { status, json } = await as('viewer', 'GET', `/money/margins.csv?${query}`);

  expect({ status, param: json.error.param, asked: asked.length }).toEqual({ status: 400, param, asked: 0 });
});
