import type { MessageInitShape } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { currentRequestId } from '@reelgate/platform/request-context';
import type { Problem } from '@reelgate/platform/problem';
import { fromWireProblem } from '@reelgate/platform/rpc/problems';
import { keepingTracing } from '@reelgate/platform/testing/keeping-tracing';
import { catchRefusal, readFields } from '@reelgate/platform/testing/refusals';
import type { HoldOrderSchema, PlaceHoldsResponse } from '@reelgate/proto/billing/v1/billing_service';
import { CENT, DOLLAR, books, expectSound } from '../../testing/books.ts';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { aConfig, openBilling, order, temporaryLocation } from '../../testing/open-billing.ts';
import type { TestBilling } from '../../testing/open-billing.ts';

type Order = Parameters<TestBilling['billing']['placeHold']>[0];

const placeAll = (on: TestBilling, holds: readonly Order[]): Promise<PlaceHoldsResponse> =>
  on.billing.placeHolds({ orders: holds.map((hold) => ({ hold })) });
/** The task of each hold, or the reason for its refusal. */
const readOutcomes = ({ placements }: PlaceHoldsResponse): unknown[] =>
  placements.map(({ result }) => (result.case === 'held' ? result.value.taskId : result.value?.reason));

const readAll = (problem: Problem): object => ({ ...readFields(problem), metadata: problem.metadata });

describeOnEngines('a list of holds', (open) => {
  test('is placed in the order of the list, each as a call of its own would place it', async () => {
    const on = await open();

    const { placements } = await placeAll(
      on,
      [1n, 2n].map((images) => order(on, `task_${images}`, { images: 5n + images })),
    );

    const alone = await Promise.all(['task_1', 'task_2'].map((taskId) => on.billing.getHold({ taskId })));
    expect(placements.map(({ result }) => result.value)).toEqual(alone.map(({ hold }) => hold));
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 92n * CENT, used: 92n * CENT });
    await expectSound(on);
  });

  test('can be repeated: what it has placed stays as it is', async () => {
    const on = await open();
    const first = await placeAll(on, [order(on, 'task_1'), order(on, 'task_2')]);

    const again = await placeAll(on, [order(on, 'task_1'), order(on, 'task_2'), order(on, 'task_3')]);

    expect(again.placements.slice(0, 2)).toEqual(first.placements);
    expect(readOutcomes(again)).toEqual(['task_1', 'task_2', 'task_3']);
    expect(await books(on)).toMatchObject({ held: 120n * CENT, used: 120n * CENT });
    await expectSound(on);
  });

  test('holds what the balance covers, and refuses the rest', async () => {
    const on = await open(aConfig({ credit: '0.80' }));

    const placed = await placeAll(
      on,
      ['task_1', 'task_2', 'task_3'].map((taskId) => order(on, taskId)),
    );

    expect(placed.placements.map(({ result }) => result.case).toSorted()).toEqual(['held', 'held', 'refusal']);
    expect(readOutcomes(placed)).toContain('insufficient_quota');
    expect(await books(on)).toEqual({ balance: 80n * CENT, held: 80n * CENT, used: 80n * CENT });
    await expectSound(on);
  });

  test('refuses each hold as a call of its own would, and places the others', async () => {
    const on = await open();
    await on.billing.releaseHold({ taskId: 'task_released' });
    const bad: Order[] = [
      { ...order(on, 'task_2'), label: 'two words' },
      order(on, 'task_3', { priceKey: 'no-such-model' }),
      { ...order(on, 'task_4'), tokenId: 'token_x' },
      { ...order(on, 'task_5'), maxAmountNanos: CENT },
      order(on, 'task_released'),
      {},
    ];
    const alone = await Promise.all(bad.map((one) => catchRefusal(on.billing.placeHold(one))));

    const { placements } = await placeAll(on, [order(on, 'task_1'), ...bad, order(on, 'task_9')]);

    const refusals = placements.flatMap(({ result }) => (result.case === 'refusal' ? [result.value] : []));
    expect(refusals.map((refusal) => readAll(fromWireProblem(refusal)))).toEqual(alone.map(readAll));
    expect(await books(on)).toMatchObject({ held: 80n * CENT });
    await expectSound(on);
  });

  test('of more than 64 or of none is refused as a whole', async () => {
    const on = await open();
    const many = Array.from({ length: 65 }, (_, index) => order(on, `task_${index}`));

    await expect(placeAll(on, many)).rejects.toMatchObject({ kind: 'invalid', field: 'orders' });
    await expect(placeAll(on, [])).rejects.toMatchObject({ kind: 'invalid', field: 'orders' });

    expect(await books(on)).toMatchObject({ held: 0n });
  });
});

test('each hold of a list keeps its request on its log lines, and its span', async () => {
  const location = temporaryLocation();
  const { tracing, spans } = keepingTracing();
  const lines: object[] = [];
  const isOfTask = (line: object): boolean => 'taskId' in line;
  const log = { ...silentLog, info: (fields: object) => void lines.push({ ...fields, requestId: currentRequestId() }) };
  const on = await openBilling(location, aConfig(), undefined, undefined, undefined, { log, tracing });
  try {
    const creates = ['task_1', 'task_2'].map((taskId) => ({
      taskId,
      span: tracing.root('create', { class: 'create' }),
    }));

    const orders: MessageInitShape<typeof HoldOrderSchema>[] = [
      ...creates.map(({ taskId, span }) => ({
        hold: order(on, taskId),
        requestId: `request of ${taskId}`.replaceAll(' ', '-'),
        traceParent: span.carrier ?? '',
      })),
      { hold: order(on, 'task_3'), requestId: 'not a request id', traceParent: 'not a carrier' },
    ];

    await on.billing.placeHolds({ orders });

    expect(lines.filter(isOfTask)).toMatchObject([
      { taskId: 'task_1', requestId: 'request-of-task_1' },
      { taskId: 'task_2', requestId: 'request-of-task_2' },
      { taskId: 'task_3', requestId: undefined },
    ]);
    expect(spans()).toMatchObject(
      creates.map(({ span }) => ({
        name: 'reelgate.billing.v1.BillingService/PlaceHold',
        kind: 'server',
        traceId: span.traceId,
      })),
    );
  } finally {
    await on.stop();
    location.remove();
  }
});
