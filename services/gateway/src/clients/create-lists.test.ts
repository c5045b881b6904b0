import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { inRequest } from '@reelgate/platform/request-context';
import { bindWithLists } from '@reelgate/platform/rpc/service';
import type { CallOptions, Implementation } from '@reelgate/platform/rpc/service';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { aGate } from '@reelgate/platform/testing/bounded-waits';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { keepingTracing } from '@reelgate/platform/testing/keeping-tracing';
import { partialService, silenceRpcLibraries } from '@reelgate/platform/testing/partial-service';
import { closingTransports, openGrpc } from '@reelgate/platform/testing/rpc-transports';
import { CreateTasksResponseSchema, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { CreateTaskRequest } from '@reelgate/proto/tasks/v1/task_service';
import { shareCreates } from './create-lists.ts';
import type { TasksClient } from './tasks-client.ts';

const SINGLY_MS = 10_000;
const TASKS = ['task_1', 'task_2', 'task_3'];
const NO_QUOTA = new Problem({
  kind: 'exhausted',
  reason: 'insufficient_quota',
  message: 'the balance does not cover this',
  field: 'order',
  retryAfterMs: 1500,
  metadata: { amount: '0.4' },
});

type CreateTask = (request: CreateTaskRequest, requestId: string) => Promise<object>;
const createAll: CreateTask = async ({ idempotencyKey: id }) => ({ task: { id } });
const aCreate = (idempotencyKey: string, webhookUrl = '') => ({
  accountId: 'demo',
  tokenId: 'token_1',
  idempotencyKey,
  webhookUrl,
});

silenceRpcLibraries();
const open = closingTransports();

/** The tasks service behind gRPC, and the calls that its client made. */
async function openTasks(createTask = createAll) {
  const others = partialService(TaskService).methods as unknown as Implementation<typeof TaskService>;
  const methods = {
    ...others,
    createTask: (request, { requestId }) => createTask(request, requestId),
  } as typeof others;
  const server = await open(openGrpc, bindWithLists(TaskService, methods, { createTasks: 'createTask' }));
  return { server, ...watchCalls(server.client(TaskService)) };
}

function watchCalls(tasks: TasksClient) {
  const calls: { readonly keys: readonly string[]; readonly options: CallOptions | undefined }[] = [];
  const clock = fakeClock();
  const watched: TasksClient = {
    ...tasks,
    createTask: (request, options) => {
      calls.push({ keys: [request.idempotencyKey ?? ''], options });
      return tasks.createTask(request, options);
    },
    createTasks: (list, options) => {
      calls.push({ keys: (list.calls ?? []).map(({ request }) => request?.idempotencyKey ?? ''), options });
      return tasks.createTasks(list, options);
    },
  };
  return { calls, clock, tasks: shareCreates(watched, clock) };
}

const createEach = (tasks: TasksClient, keys: readonly string[]) =>
  Promise.all(keys.map(async (key) => (await tasks.createTask(aCreate(key))).task?.id));
const listKeys = (calls: readonly { readonly keys: readonly string[] }[]) => calls.map(({ keys }) => keys);

describe('creates of one moment', () => {
  test('go to the tasks service in one call, and each gets its own task', async () => {
    const { calls, tasks } = await openTasks();

    expect(await createEach(tasks, TASKS)).toEqual(TASKS);

    expect(listKeys(calls)).toEqual([TASKS]);
  });

  test('are refused each for itself, with all that a create alone is told', async () => {
    const { tasks } = await openTasks(async (request, requestId) => {
      if (request.idempotencyKey === 'task_2') throw NO_QUOTA;
      return createAll(request, requestId);
    });

    const [first, second, third] = await Promise.allSettled(TASKS.map((key) => tasks.createTask(aCreate(key))));

    expect([first?.status, third?.status]).toEqual(['fulfilled', 'fulfilled']);
    const { kind, reason, message, field, retryAfterMs, metadata } = NO_QUOTA;
    expect(second).toMatchObject({ reason: { kind, reason, message, field, retryAfterMs, metadata } });
  });

  test('are answered while a slow one of them waits', async () => {
    const slow = aGate();
    const { tasks } = await openTasks(async (request, requestId) => {
      if (request.idempotencyKey === 'task_1') await slow.opened;
      return createAll(request, requestId);
    });
    const waiting = createEach(tasks, ['task_1']);

    expect(await createEach(tasks, ['task_2', 'task_3'])).toEqual(['task_2', 'task_3']);

    slow.open();
    expect(await waiting).toEqual(['task_1']);
  });

  test('keep their requests and their spans', async () => {
    const seen: string[] = [];
    const { tasks } = await openTasks(async (request, requestId) => {
      seen.push(requestId);
      return createAll(request, requestId);
    });
    const { tracing, spans } = keepingTracing();
    const roots = [1, 2].map(() => tracing.root('create', { class: 'create' }));

    await Promise.all(
      roots.map((span, index) =>
        inRequest(`request_${index + 1}`, () => tasks.createTask(aCreate(`task_${index + 1}`), { span })),
      ),
    );

    expect(seen).toEqual(['request_1', 'request_2']);
    expect(spans()).toMatchObject(
      roots.map(({ traceId }) => ({ name: 'reelgate.tasks.v1.TaskService/CreateTask', kind: 'client', traceId })),
    );
  });

  test('have the time of a create alone: the first deadline of them ends the list', async () => {
    const { calls, tasks } = await openTasks();

    await Promise.all(TASKS.map((key) => tasks.createTask(aCreate(key), { timeoutMs: 30_000 })));

    expect(calls.map(({ options }) => options?.timeoutMs)).toEqual([30_000]);
  });

  test('go apart where their times are not the same', async () => {
    const { calls, tasks } = await openTasks();

    await Promise.all(
      [30_000, 10_000, 30_000].map((timeoutMs, index) => tasks.createTask(aCreate(TASKS[index] ?? ''), { timeoutMs })),
    );

    expect(calls.map(({ keys, options }) => [options?.timeoutMs, ...keys])).toEqual([
      [30_000, 'task_1', 'task_3'],
      [10_000, 'task_2'],
    ]);
  });
});

describe('a create', () => {
  test('that comes alone is a call of its own', async () => {
    const { calls, tasks } = await openTasks();

    await inRequest('request_1', () => tasks.createTask(aCreate('task_1'), { timeoutMs: 30_000 }));

    expect(calls).toEqual([{ keys: ['task_1'], options: { timeoutMs: 30_000, requestId: 'request_1' } }]);
  });

  test.each<[string, object, CallOptions]>([
    ['is large', aCreate('large', `https://example.com/${'a'.repeat(22_000)}`), {}],
    ['may be given up by its caller', aCreate('large'), { signal: new AbortController().signal }],
  ])('that %s goes alone', async (_name, request, options) => {
    const { calls, tasks } = await openTasks();

    await Promise.allSettled([createEach(tasks, ['task_1', 'task_2']), tasks.createTask(request, options)]);

    expect(listKeys(calls)).toEqual([['large'], ['task_1', 'task_2']]);
  });
});

test('a list that is cut off ends each create without an outcome as a create alone that is cut off', async () => {
  const cutOff = serviceUnavailable(new Error('the connection is lost'));
  const client = {
    async *createTasks () {
      yield create(CreateTasksResponseSchema, { outcomes: [{ call: 1, result: { case: 'answer', value: {} } }] });
      throw cutOff;
    },
  } as unknown as TasksClient;
  const { tasks } = watchCalls(client);

  const ended = await Promise.allSettled(TASKS.map((key) => tasks.createTask(aCreate(key))));

  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
  expect([ended[0], ended[2]]).toEqual([0, 2].map(() => ({ status: 'rejected', reason: cutOff })));
});

test('a tasks service of the release before gets creates one by one, and is asked about lists again later', async () => {
  const { createTasks: _unknown, ...methods } = TaskService.method;
  const old = { ...TaskService, method: methods, methods: Object.values(methods) } as unknown as typeof TaskService;
  const server = await open(
    openGrpc,
    partialService(old, { createTask: async ({ idempotencyKey: id }) => ({ task: { id } }) }),
  );
  const { calls, clock, tasks } = watchCalls(server.client(TaskService));

  expect(await createEach(tasks, ['task_1', 'task_2'])).toEqual(['task_1', 'task_2']);
  await clock.advance(SINGLY_MS - 1);
  expect(await createEach(tasks, ['task_3', 'task_4'])).toEqual(['task_3', 'task_4']);
  await clock.advance(1);
  expect(await createEach(tasks, ['task_5', 'task_6'])).toEqual(['task_5', 'task_6']);

  expect(listKeys(calls)).toEqual([
    ['task_1', 'task_2'],
    ...['task_1', 'task_2', 'task_3', 'task_4'].map((key) => [key]),
    ['task_5', 'task_6'],
    ...['task_5', 'task_6'].map((key) => [key]),
  ]);
});
