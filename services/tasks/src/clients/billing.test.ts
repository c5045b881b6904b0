import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import type { Client } from '@reelgate/platform/rpc/service';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import {
  PlaceHoldRequestSchema,
  QuotePriceResponseSchema,
  ReleaseHoldResponseSchema,
  SettleHoldResponseSchema,
} from '@reelgate/proto/billing/v1/billing_service';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { PriceFactsSchema } from '@reelgate/proto/billing/v1/price';
import { billingClient } from './billing.ts';
import type { Billing } from './billing.ts';

const FACTS = { priceKey: 'Alpha-H3', resolution: '2K', seconds: 5, inputVideoSeconds: 4, images: 2 };
const WIRE_FACTS = create(PriceFactsSchema, {
  priceKey: 'Alpha-H3',
  resolution: '2K',
  seconds: 5n,
  inputVideoSeconds: 4n,
  images: 2n,
});

/** Billing behind the RPC client. It returns the answers of the test. */
function over(answers: Readonly<Record<string, unknown>> = {}) {
  const asked: [method: string, request: unknown][] = [];
  const rpc = new Proxy(
    {},
    {
      get: (_target, method: string) => async (request: unknown) => {
        asked.push([method, request]);
        const answer = answers[method] ?? {};
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  ) as Client<typeof BillingService>;
  return { asked, billing: billingClient(rpc, fakeClock()) };
}

test.each<[string, (billing: Billing) => Promise<unknown>, string, object]>([
  ['a quote', (billing) => billing.quote('acme', FACTS), 'quotePrice', { accountId: 'acme', facts: WIRE_FACTS }],
  [
    'a hold',
    (billing) => billing.placeHold({ taskId: 'task_1', accountId: 'acme', tokenId: 'token_1', facts: FACTS }),
    'placeHold',
    create(PlaceHoldRequestSchema, { taskId: 'task_1', accountId: 'acme', tokenId: 'token_1', facts: WIRE_FACTS }),
  ],
  [
    'a hold of labelled work',
    (billing) =>
      billing.placeHold({ taskId: 'task_1', accountId: 'acme', tokenId: 'token_1', facts: FACTS, label: 'spring' }),
    'placeHold',
    create(PlaceHoldRequestSchema, {
      taskId: 'task_1',
      accountId: 'acme',
      tokenId: 'token_1',
      facts: WIRE_FACTS,
      label: 'spring',
    }),
  ],
  [
    'an extended hold',
    (billing) => billing.extendHold('task_1', FACTS),
    'extendHold',
    { taskId: 'task_1', facts: WIRE_FACTS },
  ],
  [
    'the release of a failed task that its upstream charged',
    (billing) => billing.releaseHold('task_1', { channel: 'vendor', upstreamCostMicroUsd: 350_000 }),
    'releaseHold',
    { taskId: 'task_1', channel: 'vendor', upstreamCostMicroUsd: 350_000n },
  ],
  [
    'the settlement of a task that its upstream charged nothing for',
    (billing) => billing.settle('task_1', {}, { channel: 'vendor', upstreamCostMicroUsd: 0 }),
    'settleHold',
    { taskId: 'task_1', confirmed: false, channel: 'vendor', upstreamCostMicroUsd: 0n },
  ],
  ['a release', (billing) => billing.releaseHold('task_1'), 'releaseHold', { taskId: 'task_1' }],
  [
    'a settlement without usage',
    (billing) => billing.settle('task_1', undefined),
    'settleHold',
    { taskId: 'task_1', confirmed: false },
  ],
  [
    'a settlement by seconds',
    (billing) => billing.settle('task_1', { totalSeconds: 5, outputSeconds: 5 }),
    'settleHold',
    { taskId: 'task_1', confirmed: false, totalSeconds: 5n },
  ],
  [
    'a settlement by tokens',
    (billing) => billing.settle('task_1', { promptTokens: 1, completionTokens: 0, totalTokens: 1 }),
    'settleHold',
    { taskId: 'task_1', confirmed: false, inputTokens: 1n, outputTokens: 0n },
  ],
  [
    "an operator's settlement",
    (billing) => billing.settle('task_1', {}, { confirmed: true, channel: 'vendor' }),
    'settleHold',
    { taskId: 'task_1', confirmed: true, channel: 'vendor' },
  ],
])('%s is requested with the messages of the contract', async (_what, ask, method, request) => {
  const { asked, billing } = over();

  await ask(billing);

  expect(asked).toEqual([[method, request]]);
});

describe('an answer of billing', () => {
  test('may be a quote', async () => {
    const quotePrice = create(QuotePriceResponseSchema, {
      quote: {
        amountNanos: 400_000_000n,
        currency: 'USD',
        contract: 'Alpha-H3',
        version: 3,
        maxAmountNanos: 500_000_000n,
      },
    });

    expect(await over({ quotePrice }).billing.quote('acme', FACTS)).toEqual({
      amountNanos: 400_000_000n,
      currency: 'USD',
      contract: 'Alpha-H3',
      version: 3,
      maxAmountNanos: 500_000_000n,
    });
  });

  test.each([
    [Basis.DEFERRED, 'deferred'],
    [Basis.USAGE, 'settled'],
    [Basis.RELEASED, 'released'],
    [Basis.UNSPECIFIED, 'settled'],
  ])('with the basis %s means that the task is %s', async (basis, settled) => {
    const settleHold = create(SettleHoldResponseSchema, { settlement: { basis } });

    expect(await over({ settleHold }).billing.settle('task_1', undefined)).toBe(settled);
  });

  test.each([
    [Basis.RELEASED, 'released'],
    [Basis.UNSPECIFIED, 'released'],
    [Basis.USAGE, 'charged'],
    [Basis.ESTIMATE, 'charged'],
    [Basis.HOLD, 'charged'],
  ])('with the basis %s means that a hold to release is %s', async (basis, ended) => {
    const releaseHold = create(ReleaseHoldResponseSchema, { settlement: { basis } });

    expect(await over({ releaseHold }).billing.releaseHold('task_1')).toBe(ended);
  });

  test('may be a refusal, which is passed on unchanged', async () => {
    const refusal = new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'no' });

    await expect(
      over({ placeHold: refusal }).billing.placeHold({
        taskId: 'task_1',
        accountId: 'acme',
        tokenId: 'token_1',
        facts: FACTS,
      }),
    ).rejects.toBe(refusal);
  });
});

test('only charges and releases end a hold for good', async () => {
  const bases = { held: Basis.UNSPECIFIED, deferred: Basis.DEFERRED, released: Basis.RELEASED, charged: Basis.USAGE };
  const charges = Object.entries(bases).map(([taskId, basis]) => ({ taskId, basis }));
  const { asked, billing } = over({ listCharges: { charges } });

  expect(await billing.findEnded([...Object.keys(bases), 'unknown'])).toEqual(new Set(['released', 'charged']));
  expect(asked).toEqual([['listCharges', { taskIds: [...Object.keys(bases), 'unknown'] }]]);
});
