import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { Scope } from '@reelgate/proto/access/v1/access';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { CENT, expectSound } from '../../testing/books.ts';
import { HOUR_MS } from '../../testing/call-orders.ts';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { aConfig, order } from '../../testing/open-billing.ts';
import type { TestBilling } from '../../testing/open-billing.ts';

const NAME = 'reelgate_money_upstream_cost_total';
const COSTED = 'reelgate_money_costed_total';
const CONFIG = {
  ...aConfig(),
  models: { 'Alpha-H3': {} },
  channels: [
    { id: 'vendor', models: { 'Alpha-H3': 'up' }, upstream_prices: { 'Alpha-H3': { per_second: '0.05' } } },
    { id: 'unpriced', models: { 'Alpha-H3': 'up' } },
  ],
};
const IN_EUROS = { ...CONFIG, accounts: CONFIG.accounts.map((account) => ({ ...account, currency: 'EUR' })) };
/** 0.30 dollars. */
const REPORTED = 300_000n;
const ENDED = { taskId: 'task_1', state: TaskState.COMPLETED, channel: 'vendor', upstreamCostMicroUsd: REPORTED };

const listSeries = async ({ metrics }: TestBilling, name: string): Promise<readonly string[]> =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith(`${name}{`));
const costOf = async ({ billing }: TestBilling, taskId = 'task_1') => {
  const { upstreamCost } = await billing.getHold({ taskId });
  return upstreamCost && { reported: upstreamCost.reportedMicroUsd, estimated: upstreamCost.estimatedNanos };
};
const margins = async (on: TestBilling) => {
  const { accounts, clock } = await on.restart();
  const period = { from: timestampFromMs(clock.now() - HOUR_MS), to: timestampFromMs(clock.now() + 1) };
  return (await accounts.getMoney(period)).margins.map(({ $typeName: _, $unknown: __, ...margin }) => margin);
};
const PLACE = { channel: 'vendor', priceKey: 'Alpha-H3', currency: 'USD' };

describeOnEngines('the upstream cost that an upstream reports', (open) => {
  test('is kept with the settled hold beside the estimate, and is the cost that is counted', async () => {
    const on = await open(CONFIG);
    await on.billing.placeHold(order(on, 'task_1'));

    await on.finish(ENDED);

    expect(await costOf(on)).toEqual({ reported: REPORTED, estimated: 25n * CENT });
    expect(await listSeries(on, NAME)).toEqual([
      `${NAME}{channel="vendor",model="Alpha-H3",currency="USD",source="reported"} 0.3`,
    ]);
    await expectSound(on);
  });

  test('is kept with the released hold of a failed task, whose margin is a loss', async () => {
    const on = await open(CONFIG);
    await on.billing.placeHold(order(on, 'task_1'));

    await on.finish({ ...ENDED, state: TaskState.FAILED });

    expect(await costOf(on)).toEqual({ reported: REPORTED, estimated: undefined });
    expect(await margins(on)).toEqual([
      {
        ...PLACE,
        ...{ requests: 1n, chargedNanos: 0n, costNanos: 30n * CENT },
        ...{ reportedRequests: 1n, reportedCostNanos: 30n * CENT },
      },
    ]);
  });

  test('is kept and counted once, however often the end arrives, by event or by call', async () => {
    const on = await open(CONFIG);
    for (const taskId of ['task_1', 'task_2']) await on.billing.placeHold(order(on, taskId));

    for (const upstreamCostMicroUsd of [REPORTED, REPORTED, 900_000n]) {
      await on.finish({ ...ENDED, upstreamCostMicroUsd });
      await on.billing.settleHold({ taskId: 'task_1', channel: 'vendor', upstreamCostMicroUsd });
      await on.billing.releaseHold({ taskId: 'task_2', channel: 'vendor', upstreamCostMicroUsd });
    }

    expect(await costOf(on)).toMatchObject({ reported: REPORTED });
    expect(await costOf(on, 'task_2')).toMatchObject({ reported: REPORTED });
    expect(await margins(on)).toMatchObject([{ requests: 2n, reportedRequests: 2n, reportedCostNanos: 60n * CENT }]);
  });

  test('sums with the estimates of other tasks, and the margin says which part is which', async () => {
    const on = await open(CONFIG);
    for (const taskId of ['task_1', 'task_2']) await on.billing.placeHold(order(on, taskId));

    await on.billing.settleHold({ taskId: 'task_1', channel: 'vendor', upstreamCostMicroUsd: REPORTED });
    await on.billing.settleHold({ taskId: 'task_2', channel: 'vendor' });

    expect(await margins(on)).toEqual([
      {
        ...PLACE,
        ...{ requests: 2n, chargedNanos: 80n * CENT, costNanos: 55n * CENT },
        ...{ reportedRequests: 1n, reportedCostNanos: 30n * CENT },
      },
    ]);
  });

  test('is counted with the charge of the same work, by source, so that each margin is one difference', async () => {
    const on = await open(CONFIG);
    for (const taskId of ['task_1', 'task_2', 'task_3', 'task_4']) await on.billing.placeHold(order(on, taskId));

    await on.finish(ENDED);
    await on.finish({ ...ENDED, taskId: 'task_2', state: TaskState.FAILED });
    await on.billing.settleHold({ taskId: 'task_3', channel: 'vendor' });
    await on.billing.settleHold({ taskId: 'task_4', channel: 'unpriced' });

    const labels = (source: string): string => `{channel="vendor",model="Alpha-H3",currency="USD",source="${source}"}`;
    expect(await listSeries(on, COSTED)).toEqual([
      `${COSTED}${labels('reported')} 0.4`,
      `${COSTED}${labels('estimated')} 0.4`,
    ]);
    expect(await listSeries(on, NAME)).toEqual([
      `${NAME}${labels('reported')} 0.6`,
      `${NAME}${labels('estimated')} 0.25`,
    ]);
  });

  test('makes a margin where the channel has no upstream price, and may be nothing', async () => {
    const on = await open(CONFIG);
    await on.billing.placeHold(order(on, 'task_1'));

    await on.billing.settleHold({ taskId: 'task_1', channel: 'unpriced', upstreamCostMicroUsd: 0n });

    expect(await costOf(on)).toEqual({ reported: 0n, estimated: undefined });
    expect(await margins(on)).toMatchObject([
      { channel: 'unpriced', requests: 1n, reportedRequests: 1n, chargedNanos: 40n * CENT, costNanos: 0n },
    ]);
  });

  test('is kept for an account in another currency, whose margin stays an estimate in that currency', async () => {
    const on = await open(IN_EUROS);
    for (const taskId of ['task_1', 'task_2']) await on.billing.placeHold(order(on, taskId));

    await on.finish(ENDED);
    await on.finish({ ...ENDED, taskId: 'task_2', state: TaskState.FAILED });

    expect(await costOf(on)).toEqual({ reported: REPORTED, estimated: 25n * CENT });
    expect(await costOf(on, 'task_2')).toEqual({ reported: REPORTED, estimated: undefined });
    expect(await margins(on)).toMatchObject([
      { currency: 'EUR', requests: 1n, costNanos: 25n * CENT, reportedRequests: 0n, reportedCostNanos: 0n },
    ]);
  });

  test('is shown to operators alone', async () => {
    const on = await open(CONFIG);
    await on.billing.placeHold(order(on, 'task_1'));
    await on.finish(ENDED);
    const caller = aCaller({ accounts: ['demo'], scopes: new Set([Scope.ACCOUNT_READ]) });
    const client = directClient(BillingService, on.service.bindings[0]!, caller);

    const seen = await client.getHold({ taskId: 'task_1' });

    expect(seen.settlement?.amountNanos).toBe(40n * CENT);
    expect(seen.upstreamCost).toBeUndefined();
  });
});
