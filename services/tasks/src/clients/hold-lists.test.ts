import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { inRequest } from '@reelgate/platform/request-context';
import { toWireProblem } from '@reelgate/platform/rpc/problems';
import type { CallOptions, Client } from '@reelgate/platform/rpc/service';
import { aGate } from '@reelgate/platform/testing/bounded-waits';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { keepingTracing } from '@reelgate/platform/testing/keeping-tracing';
import { until } from '@reelgate/platform/testing/until';
import { PlaceHoldRequestSchema, PlaceHoldsResponseSchema } from '@reelgate/proto/billing/v1/billing_service';
import type {
  HoldPlacementSchema,
  PlaceHoldsRequest,
  BillingService,
} from '@reelgate/proto/billing/v1/billing_service';
import { newHoldLists } from './billing.ts';
import type { HoldLists } from './billing.ts';

const LIST_MAX = 64;

const aHold = (taskId: string) =>
  create(PlaceHoldRequestSchema, { taskId, accountId: 'acme', tokenId: 'token_1', facts: { priceKey: 'Alpha-H3' } });
const NO_QUOTA = new Problem({
  kind: 'exhausted',
  reason: 'insufficient_quota',
  message: 'the balance does not cover this',
  field: 'task_id',
  retryAfterMs: 1500,
  metadata: { amount: '0.4' },
});

interface Call {
  readonly method: 'placeHold' | 'placeHolds';
  /** The tasks of its holds. */
  readonly tasks: readonly string[];
  readonly request: object;
  readonly options: CallOptions;
}

type Placement = MessageInitShape<typeof HoldPlacementSchema>;

/** Billing behind the RPC client. It places every hold, unless `answer` says otherwise. */
function openLists({
  answer = (taskId) => ({ result: { case: 'held', value: { taskId } } }),
  fail = () => undefined,
  wait = async () => undefined,
}: {
  readonly answer?: (taskId: string) => Placement;
  readonly fail?: (call: Call) => unknown;
  readonly wait?: (call: Call) => Promise<unknown>;
} = {}) {
  const calls: Call[] = [];
  const clock = fakeClock();
  const note = async (call: Call): Promise<void> => {
    calls.push(call);
    await wait(call);
    const failure = fail(call);
    if (failure !== undefined) throw failure as Error;
  };
  const rpc = {
    placeHold: async (request: { readonly taskId: string }, options: CallOptions = {}) => {
      await note({ method: 'placeHold', tasks: [request.taskId], request, options });
      return { hold: { taskId: request.taskId } };
    },
    placeHolds: async (request: PlaceHoldsRequest, options: CallOptions = {}) => {
      const tasks = request.orders.map(({ hold }) => hold?.taskId ?? '');
      await note({ method: 'placeHolds', tasks, request, options });
      return create(PlaceHoldsResponseSchema, { placements: tasks.map(answer) });
    },
  } as unknown as Client<typeof BillingService>;
  return { calls, clock, lists: newHoldLists(rpc, clock) };
}

const listCalls = (calls: readonly Call[]): unknown[] => calls.map(({ method, tasks }) => [method, ...tasks]);
const placeAll = (lists: HoldLists, tasks: readonly string[]) =>
  Promise.all(tasks.map(async (taskId) => (await lists.call(aHold(taskId)))?.taskId));
const TASKS = ['task_1', 'task_2', 'task_3'];

describe('holds of one moment', () => {
  test('go to billing in one call, and each gets its own hold', async () => {
    const { calls, lists } = openLists();

    expect(await placeAll(lists, TASKS)).toEqual(TASKS);

    expect(listCalls(calls)).toEqual([['placeHolds', ...TASKS]]);
  });

  test('are at most 64 in a call', async () => {
    const { calls, lists } = openLists();
    const tasks = Array.from({ length: LIST_MAX + 2 }, (_, index) => `task_${index}`);

    expect(await placeAll(lists, tasks)).toEqual(tasks);

    expect(calls.map((call) => call.tasks.length)).toEqual([LIST_MAX, 2]);
  });

  test('are refused each for itself, as a call for one of them is', async () => {
    const refusal = toWireProblem(NO_QUOTA);
    const { lists } = openLists({
      answer: (taskId) =>
        taskId === 'task_2'
          ? { result: { case: 'refusal', value: refusal } }
          : { result: { case: 'held', value: { taskId } } },
    });

    const [first, second, third] = await Promise.allSettled(TASKS.map((taskId) => lists.call(aHold(taskId))));

    expect([first?.status, third?.status]).toEqual(['fulfilled', 'fulfilled']);
    const { kind, reason, message, field, retryAfterMs, metadata } = NO_QUOTA;
    expect(second).toMatchObject({ reason: { kind, reason, message, field, retryAfterMs, metadata } });
  });

  test('fail if billing answers less than it was asked', async () => {
    const { lists } = openLists({ answer: () => ({}) });

    await expect(placeAll(lists, TASKS)).rejects.toThrow('a hold has no outcome');
  });

  test('keep their requests and their spans', async () => {
    const { calls, lists } = openLists({
      answer: (taskId) =>
        taskId === 'task_2'
          ? { result: { case: 'refusal', value: toWireProblem(NO_QUOTA) } }
          : { result: { case: 'held', value: { taskId } } },
    });
    const { tracing, spans } = keepingTracing();
    const roots = [1, 2].map(() => tracing.root('create', { class: 'create' }));

    await Promise.allSettled([
      ...roots.map((span, index) =>
        inRequest(`request_${index + 1}`, () => lists.call(aHold(`task_${index + 1}`), { span })),
      ),
      lists.call(aHold('task_3')),
    ]);

    const own = spans();
    expect(own).toMatchObject(
      roots.map(({ traceId }, index) => ({
        name: 'reelgate.billing.v1.BillingService/PlaceHold',
        kind: 'client',
        traceId,
        failed: index === 1,
      })),
    );
    expect(calls[0]?.request).toMatchObject({
      orders: [
        ...own.map(({ traceId, spanId }, index) => ({
          requestId: `request_${index + 1}`,
          traceParent: `00-${traceId}-${spanId}-01`,
        })),
        { requestId: '', traceParent: '' },
      ],
    });
  });
});

test('a hold that comes alone is a call of its own, with its signal, its span and its request', async () => {
  const { calls, lists } = openLists();
  const { signal } = new AbortController();
  const span = keepingTracing().tracing.root('create', { class: 'create' });

  await inRequest('request_1', () => lists.call(aHold('task_1'), { signal, span }));

  expect(listCalls(calls)).toEqual([['placeHold', 'task_1']]);
  expect(calls[0]?.options).toEqual({ signal, span, requestId: 'request_1' });
});

describe('a caller that leaves', () => {
  test('is not waited for, and the others of its list get their holds', async () => {
    const answering = aGate();
    const { calls, lists } = openLists({ wait: () => answering.opened });
    const leaving = new AbortController();
    const staying = [new AbortController(), new AbortController()];
    const left = lists.call(aHold('task_1'), { signal: leaving.signal });
    const kept = staying.map(({ signal }, index) => lists.call(aHold(`task_${index + 2}`), { signal }));
    await until(() => calls.length > 0);

    leaving.abort();

    await expect(left).rejects.toMatchObject({ reason: 'service_unavailable' });
    expect(calls[0]?.options.signal?.aborted).toBe(false);
    answering.open();
    expect(await Promise.all(kept)).toMatchObject([{ taskId: 'task_2' }, { taskId: 'task_3' }]);
    expect(listCalls(calls)).toEqual([['placeHolds', ...TASKS]]);
  });

  test('is in no list that was not sent before', async () => {
    const { calls, lists } = openLists();
    const leaving = new AbortController();
    const left = lists.call(aHold('task_1'), { signal: leaving.signal });
    const kept = placeAll(lists, ['task_2', 'task_3']);

    leaving.abort();

    await expect(left).rejects.toMatchObject({ reason: 'service_unavailable' });
    expect(await kept).toEqual(['task_2', 'task_3']);
    expect(listCalls(calls)).toEqual([['placeHolds', 'task_2', 'task_3']]);
  });

  test('as the last one of its list ends the call', async () => {
    const answering = aGate();
    const { calls, lists } = openLists({ wait: () => answering.opened });
    const callers = TASKS.map(() => new AbortController());
    const placed = Promise.allSettled(
      callers.map(({ signal }, index) => lists.call(aHold(TASKS[index] ?? ''), { signal })),
    );
    await until(() => calls.length > 0);

    for (const caller of callers) caller.abort();

    expect(calls[0]?.options.signal?.aborted).toBe(true);
    expect((await placed).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    answering.open();
  });
});
