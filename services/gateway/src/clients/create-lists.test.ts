import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { inRequest } from '@reelgate/platform/request-context';
import { toWireProblem } from '@reelgate/platform/rpc/problems';
import type { CallOptions, Implementation } from '@reelgate/platform/rpc/service';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { aGate, inTime } from '@reelgate/platform/testing/bounded-waits';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { keepingTracing } from '@reelgate/platform/testing/keeping-tracing';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { catchRefusal, readFields } from '@reelgate/platform/testing/refusals';
import { closingTransports, openGrpc } from '@reelgate/platform/testing/rpc-transports';
import {
  CreateTaskResponseSchema,
  CreateTasksResponseSchema,
  TaskService,
} from '@reelgate/proto/tasks/v1/task_service';
import type { CreateTasksRequest } from '@reelgate/proto/tasks/v1/task_service';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { isUncertain } from '../problems/error-table.ts';
import { shareCreates } from './create-lists.ts';
import type { TasksClient } from './tasks-client.ts';

const LIST_MAX = 64;
const LISTS_MAX = 256;
const TIMEOUT_MS = 300_000;
const DEADLINE_MS = 50;
const LABELS = ['a', 'b', 'c'];

const openFor = closingTransports();

/** A service whose lists of creates run the create of the test. */
const bindCreates = (createTask: Implementation<typeof TaskService>['createTask']) =>
  partialService(TaskService, { createTask }, { createTasks: 'createTask' });

const aCreate = (label: string, prompt = 'a boat') => ({
  accountId: 'demo',
  tokenId: 'token_1',
  label,
  order: {
    kind: TaskKind.GENERATION,
    model: 'Alpha-H3',
    content: [{ item: { case: 'text' as const, value: prompt } }],
  },
});
const NO_QUOTA = new Problem({
  kind: 'exhausted',
  reason: 'insufficient_quota',
  message: 'the balance does not cover this',
  field: 'task_id',
  retryAfterMs: 1500,
  metadata: { amount: '0.4' },
});
const LOST = serviceUnavailable(new ConnectError('Connection dropped', Code.Unavailable));

interface Call {
  readonly method: 'createTask' | 'createTasks';
  readonly labels: readonly string[];
  readonly request: object;
  readonly options: CallOptions;
}

type Yield = (...labels: string[]) => object;

/** The tasks service behind the RPC client. A list gives the outcomes that `list` yields; the default is all of them. */
function openCreates(
  list: (call: Call, answer: Yield) => AsyncIterable<object> = async function* ({ labels }, answer) {
    yield answer(...labels);
  },
  clock = fakeClock(),
) {
  const calls: Call[] = [];
  const tasks = {
    createTask: async (request: { readonly label: string }, options: CallOptions = {}) => {
      calls.push({ method: 'createTask', labels: [request.label], request, options });
      return create(CreateTaskResponseSchema, { task: { id: request.label } });
    },
    createTasks: (request: CreateTasksRequest, options: CallOptions = {}) => {
      const labels = request.calls.map((call) => call.request?.label ?? '');
      const call: Call = { method: 'createTasks', labels, request, options };
      calls.push(call);
      return list(call, (...ended) =>
        create(CreateTasksResponseSchema, {
          outcomes: ended.map((label) => ({
            call: labels.indexOf(label),
            result: { case: 'answer' as const, value: { task: { id: label } } },
          })),
        }),
      );
    },
  } as unknown as TasksClient;
  return { calls, clock, tasks: shareCreates(tasks, clock) };
}

const createAll = (tasks: TasksClient, labels: readonly string[], options: CallOptions = { timeoutMs: TIMEOUT_MS }) =>
  Promise.all(labels.map(async (label) => (await tasks.createTask(aCreate(label), options)).task?.id));
const listCalls = (calls: readonly Call[]): unknown[] => calls.map(({ method, labels }) => [method, ...labels]);

describe('creates of one moment', () => {
  test('go to the tasks service in one call, and each gets its own answer', async () => {
    const { calls, tasks } = openCreates();

    expect(await createAll(tasks, LABELS)).toEqual(LABELS);

    expect(listCalls(calls)).toEqual([['createTasks', ...LABELS]]);
  });

  test('are at most 64 in a call', async () => {
    const { calls, tasks } = openCreates();
    const labels = Array.from({ length: LIST_MAX + 2 }, (_, index) => `label_${index}`);

    expect(await createAll(tasks, labels)).toEqual(labels);

    expect(calls.map((call) => call.labels.length)).toEqual([LIST_MAX, 2]);
  });

  test('get their answers while one of their list still waits', async () => {
    const slow = aGate();
    const { tasks } = openCreates(async function* (_call, answer) {
      yield answer('a', 'c');
      await slow.opened;
      yield answer('b');
    });
    const [a, b, c] = LABELS.map((label) => tasks.createTask(aCreate(label)));

    expect(await inTime(Promise.all([a, c]))).toMatchObject([{ task: { id: 'a' } }, { task: { id: 'c' } }]);

    slow.open();
    expect(await b).toMatchObject({ task: { id: 'b' } });
  });

  test('do not wait for the lists that are under way, and beyond 256 of them go alone', async () => {
    const slow = aGate();
    const { calls, tasks } = openCreates(async function* ({ labels }, answer) {
      await slow.opened;
      yield answer(...labels);
    });
    const labels = Array.from({ length: LIST_MAX * LISTS_MAX }, (_, index) => `label_${index}`);
    const waiting = createAll(tasks, labels);

    expect(await inTime(createAll(tasks, LABELS))).toEqual(LABELS);

    slow.open();
    expect(await waiting).toEqual(labels);
    expect(calls.filter(({ method }) => method === 'createTasks')).toHaveLength(LISTS_MAX);
  });

  test('have the deadline of the first of them, and share no list with those of another time limit', async () => {
    let now = 0;
    const { calls, tasks } = openCreates(undefined, { ...fakeClock(), now: () => now });
    const first = tasks.createTask(aCreate('a'), { timeoutMs: TIMEOUT_MS });
    now = 5;
    const other = tasks.createTask(aCreate('b'), { timeoutMs: TIMEOUT_MS });
    const short = createAll(tasks, ['c', 'd'], { timeoutMs: DEADLINE_MS });

    await Promise.all([first, other, short]);

    expect(calls.map(({ labels, options }) => [...labels, options.timeoutMs])).toEqual([
      ['a', 'b', TIMEOUT_MS - 5],
      ['c', 'd', DEADLINE_MS],
    ]);
  });

  test('keep their requests and their spans', async () => {
    const { calls, tasks } = openCreates();
    const { tracing, spans } = keepingTracing();
    const roots = [0, 1].map(() => tracing.root('create', { class: 'create' }));

    await Promise.all(
      roots.map((span, index) =>
        inRequest(`request_${index}`, () => tasks.createTask(aCreate(`label_${index}`), { span })),
      ),
    );

    const own = spans();
    expect(own).toMatchObject(
      roots.map(({ traceId }) => ({ name: 'reelgate.tasks.v1.TaskService/CreateTask', kind: 'client', traceId })),
    );
    expect(calls[0]?.request).toMatchObject({
      calls: own.map(({ traceId, spanId }, index) => ({
        requestId: `request_${index}`,
        traceParent: `00-${traceId}-${spanId}-01`,
      })),
    });
  });
});

describe('a call of its own has a create', () => {
  test('that comes alone', async () => {
    const { calls, tasks } = openCreates();
    const span = keepingTracing().tracing.root('create', { class: 'create' });

    await inRequest('request_1', () => tasks.createTask(aCreate('a'), { timeoutMs: TIMEOUT_MS, span }));

    expect(listCalls(calls)).toEqual([['createTask', 'a']]);
    expect(calls[0]?.options).toEqual({ timeoutMs: TIMEOUT_MS, span, requestId: 'request_1' });
  });

  test('that can be larger than 64 KiB', async () => {
    const { calls, tasks } = openCreates();
    const large = tasks.createTask(aCreate('large', 'x'.repeat(64 * 1024)));

    await Promise.all([large, createAll(tasks, LABELS)]);

    expect(listCalls(calls)).toEqual([
      ['createTask', 'large'],
      ['createTasks', ...LABELS],
    ]);
  });

  test('whose caller can leave, so that the service learns of it', async () => {
    const { calls, tasks } = openCreates();
    const { signal } = new AbortController();

    await createAll(tasks, ['a', 'b'], { signal });

    expect(calls).toMatchObject([
      { method: 'createTask', options: { signal } },
      { method: 'createTask', options: { signal } },
    ]);
  });
});

describe('a list that ends before each create has an outcome', () => {
  test.each([
    ['with its connection', LOST],
    ['at its deadline', serviceUnavailable(new ConnectError('Deadline exceeded', Code.DeadlineExceeded))],
  ])('%s leaves open whether the others have a task, is not repeated, and keeps the answers', async (_end, fault) => {
    const { calls, tasks } = openCreates(async function* (_call, answer) {
      yield answer('b');
      throw fault;
    });

    const [a, b, c] = await Promise.allSettled(LABELS.map((label) => tasks.createTask(aCreate(label))));

    expect(b).toMatchObject({ value: { task: { id: 'b' } } });
    expect([a, c]).toEqual([a, c].map(() => ({ status: 'rejected', reason: fault })));
    expect(isUncertain(fault)).toBe(true);
    expect(calls).toHaveLength(1);
  });

  test('with its connection makes those again that have a key, within their deadline', async () => {
    const clock = fakeClock();
    const { calls, tasks } = openCreates(async function* (_call, answer) {
      yield answer('b');
      await clock.advance(1000);
      throw LOST;
    }, clock);
    const create = (label: string) =>
      tasks.createTask(
        { ...aCreate(label), idempotencyKey: label === 'c' ? '' : label },
        { timeoutMs: TIMEOUT_MS, requestId: `req_${label}` },
      );

    const [a, b, c] = await Promise.allSettled(LABELS.map(create));

    expect([a, b]).toMatchObject(['a', 'b'].map((id) => ({ value: { task: { id } } })));
    expect(c).toEqual({ status: 'rejected', reason: LOST });
    expect(listCalls(calls)).toEqual([
      ['createTasks', ...LABELS],
      ['createTask', 'a'],
    ]);
    expect(calls[1]?.options).toMatchObject({ requestId: 'req_a', timeoutMs: TIMEOUT_MS - 1000 });
  });

  test('without a fault fails those that have none', async () => {
    const { tasks } = openCreates(async function* (_call, answer) {
      yield answer('b', 'unknown');
    });

    const [a, b] = await Promise.allSettled(LABELS.map((label) => tasks.createTask(aCreate(label))));

    expect(a).toMatchObject({ reason: new Error('a call of CreateTask in a list has no outcome') });
    expect(b).toMatchObject({ status: 'fulfilled' });
  });
});

test('a create of a list is refused as a create of its own is', async () => {
  const stream = async function* () {
    yield create(CreateTasksResponseSchema, {
      outcomes: [
        { call: 1, result: { case: 'refusal', value: toWireProblem(NO_QUOTA) } },
        { call: 0, result: { case: 'answer', value: { task: { id: 'a' } } } },
        { call: 2 },
      ],
    });
  };
  const { tasks } = openCreates(stream);

  const [a, b, c] = await Promise.allSettled(LABELS.map((label) => tasks.createTask(aCreate(label))));

  expect(a).toMatchObject({ value: { task: { id: 'a' } } });
  const refusal = (b as PromiseRejectedResult).reason as Problem;
  expect([readFields(refusal), refusal.metadata]).toEqual([readFields(NO_QUOTA), NO_QUOTA.metadata]);
  expect(c).toMatchObject({ reason: new Error('a create of a list has no outcome') });
});

describe('over gRPC', () => {
  test('each create of a moment gets its answer or its refusal', async () => {
    const { client } = await openFor(
      openGrpc,
      bindCreates(async ({ label }) => {
        if (label === 'b') throw NO_QUOTA;
        return { task: { id: label } };
      }),
    );
    const tasks = shareCreates(client(TaskService), fakeClock());

    const [a, b, c] = await Promise.allSettled(LABELS.map((label) => tasks.createTask(aCreate(label))));

    expect([a, c]).toMatchObject(['a', 'c'].map((id) => ({ value: { task: { id } } })));
    expect(readFields((b as PromiseRejectedResult).reason as Problem)).toEqual(readFields(NO_QUOTA));
  });

  test('an answer that never comes ends at the deadline of each create, as it does alone', async () => {
    const never = aGate();
    const { client } = await openFor(
      openGrpc,
      bindCreates(async () => {
        await never.opened;
        return {};
      }),
    );
    const tasks = client(TaskService);
    const shared = shareCreates(tasks, fakeClock());
    const options = { timeoutMs: DEADLINE_MS };
    const alone = await catchRefusal(tasks.createTask(aCreate('a'), options));

    const refusals = await Promise.all(LABELS.map((label) => catchRefusal(shared.createTask(aCreate(label), options))));

    expect(refusals.map(readFields)).toEqual(LABELS.map(() => readFields(alone)));
    expect(refusals.map(isUncertain)).toEqual(LABELS.map(() => true));
    never.open();
  });
});
