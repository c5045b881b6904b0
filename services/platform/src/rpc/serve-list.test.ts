import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { CreateTaskOutcome, CreateTaskRequest, CreateTasksResponse } from '@reelgate/proto/tasks/v1/task_service';
import { aGate } from '../../testing/bounded-waits.ts';
import { keepingTracing } from '../../testing/keeping-tracing.ts';
import { silenceRpcLibraries } from '../../testing/partial-service.ts';
import { catchRefusal } from '../../testing/refusals.ts';
import { TRANSPORTS, closingTransports } from '../../testing/rpc-transports.ts';
import { Problem } from '../problem.ts';
import { currentRequestId } from '../request-context.ts';
import { fromWireProblem } from './problems.ts';
import { bindWithLists } from './service.ts';
import type { Binding, CallContext, Implementation } from './service.ts';

const LISTS = { createTasks: 'createTask' } as const;
const LIST_MAX = 64;
const aCreate = (idempotencyKey: string, accountId = 'demo') => ({
  request: { accountId, tokenId: 'token_1', idempotencyKey },
});

type CreateTask = (request: CreateTaskRequest, context: CallContext) => Promise<object>;

/** A service that creates each task under the key of its request. */
function bindCreates(
  createTask: CreateTask = async ({ idempotencyKey }) => ({ task: { id: idempotencyKey } }),
): Binding {
  const others = Object.fromEntries(TaskService.methods.map(({ localName }) => [localName, async () => ({})]));
  return bindWithLists(TaskService, { ...others, createTask } as unknown as Implementation<typeof TaskService>, LISTS);
}

const readOutcome = ({ call, result }: CreateTaskOutcome): unknown[] => [
  call,
  result.case === 'answer' ? result.value.task?.id : result.value?.reason,
];
async function readAll(messages: AsyncIterable<CreateTasksResponse>): Promise<readonly CreateTaskOutcome[]> {
  return (await Array.fromAsync(messages))
    .flatMap(({ outcomes }) => outcomes)
    .toSorted((one, other) => one.call - other.call);
}

silenceRpcLibraries();
const open = closingTransports();

describe.each(TRANSPORTS)('a list of calls, by %s,', (_name, openTransport) => {
  const openTasks = async (createTask?: CreateTask, key?: string) =>
    (await open(openTransport, bindCreates(createTask))).client(TaskService, key);

  test('gives each call the outcome of its own', async () => {
    const tasks = await openTasks(async ({ idempotencyKey: id }) => {
      if (id === 'task_2')
        throw new Problem({ kind: 'exhausted', reason: 'no_quota', message: 'it is used up', field: 'order' });
      return { task: { id } };
    });

    const outcomes = await readAll(
      tasks.createTasks({ calls: ['task_1', 'task_2', 'task_3'].map((id) => aCreate(id)) }),
    );

    expect(outcomes.map(readOutcome)).toEqual([
      [0, 'task_1'],
      [1, 'no_quota'],
      [2, 'task_3'],
    ]);
    const { result } = outcomes[1] ?? {};
    expect(result?.case === 'refusal' ? fromWireProblem(result.value) : undefined).toMatchObject({
      kind: 'exhausted',
      message: 'it is used up',
      field: 'order',
    });
  });

  test('refuses a call by the rules of its fields, and makes the others', async () => {
    const tasks = await openTasks();
    const unkeyed = { request: { accountId: 'demo', idempotencyKey: 'task_1' } };

    const outcomes = await readAll(tasks.createTasks({ calls: [unkeyed, aCreate('task_2')] }));

    expect(outcomes.map(readOutcome)).toEqual([
      [0, 'invalid_request'],
      [1, 'task_2'],
    ]);
  });

  test('tells the outcomes of one moment before those of a slow call', async () => {
    const slow = aGate();
    const tasks = await openTasks(async ({ idempotencyKey: id }) => {
      if (id === 'task_1') await slow.opened;
      return { task: { id } };
    });
    const told: unknown[] = [];

    for await (const { outcomes } of tasks.createTasks({ calls: ['task_1', 'task_2'].map((id) => aCreate(id)) })) {
      told.push(...outcomes.map(readOutcome));
      slow.open();
    }

    expect(told).toEqual([
      [1, 'task_2'],
      [0, 'task_1'],
    ]);
  });

  test('gives each call the id of its request', async () => {
    const seen: unknown[] = [];
    const tasks = await openTasks(async ({ idempotencyKey }, { requestId }) => {
      seen.push([idempotencyKey, requestId, currentRequestId()]);
      return {};
    });

    await readAll(
      tasks.createTasks({ calls: ['1', '2'].map((id) => ({ ...aCreate(id), requestId: `request_${id}` })) }),
    );

    expect(seen).toEqual(['1', '2'].map((id) => [id, `request_${id}`, `request_${id}`]));
  });

  test.each<[string, number, string]>([
    ['no call', 0, 'is required'],
    ['more than 64', LIST_MAX + 1, 'must have at most 64 items'],
  ])('with %s is refused as a whole', async (_count, length, message) => {
    const tasks = await openTasks();
    const calls = Array.from({ length }, (_none, index) => aCreate(`task_${index}`));

    const refusal = await catchRefusal(readAll(tasks.createTasks({ calls })));

    expect(refusal).toMatchObject({ kind: 'invalid', field: 'calls', message: expect.stringContaining(message) });
  });
});

describe.each(TRANSPORTS.slice(1))('a list of calls from another process, by %s,', (_name, openTransport) => {
  test('with a call for an account that is not the caller’s is refused, and none is made', async () => {
    const made: string[] = [];
    const { client } = await open(
      openTransport,
      bindCreates(async ({ idempotencyKey }) => {
        made.push(idempotencyKey);
        return {};
      }),
    );
    const tasks = client(TaskService, 'key-of-the-reader');

    await expect(readAll(tasks.createTasks({ calls: [aCreate('task_1')] }))).rejects.toMatchObject({
      kind: 'forbidden',
    });

    expect(made).toEqual([]);
  });

  test('is answered to its end by a server that stops', async () => {
    const [begun, slow] = [aGate(), aGate()];
    const server = await open(
      openTransport,
      bindCreates(async ({ idempotencyKey: id }) => {
        begun.open();
        await slow.opened;
        return { task: { id } };
      }),
    );
    const calls = ['task_1', 'task_2'].map((id) => aCreate(id));
    const reading = readAll(server.client(TaskService).createTasks({ calls }));
    await begun.opened;

    const stopped = server.stopServer();
    slow.open();

    expect((await reading).map(readOutcome)).toEqual([
      [0, 'task_1'],
      [1, 'task_2'],
    ]);
    await stopped;
  });

  test('continues the trace of each call', async () => {
    const { tracing, spans } = keepingTracing();
    const { client } = await open(openTransport, bindCreates(), tracing);
    const traces = ['1', '2'].map((digit) => digit.repeat(32));

    await readAll(
      client(TaskService).createTasks({
        calls: traces.map((trace, index) => ({
          ...aCreate(`task_${index}`),
          traceParent: `00-${trace}-${'a'.repeat(16)}-01`,
        })),
      }),
    );

    expect(spans().map(({ name, kind, traceId }) => [name, kind, traceId])).toEqual(
      traces.map((trace) => ['reelgate.tasks.v1.TaskService/CreateTask', 'server', trace]),
    );
  });

  test('writes the fault of a call to the log, and tells its caller nothing of it', async () => {
    const server = await open(
      openTransport,
      bindCreates(async () => Promise.reject(new Error('a secret of the inside'))),
    );

    const [outcome] = await readAll(
      server.client(TaskService).createTasks({ calls: [aCreate('task_1'), aCreate('task_2')] }),
    );

    expect(inspect(outcome, { depth: Infinity })).not.toContain('secret');
    expect(server.logged).toHaveLength(2);
    expect(server.logged[0]).toMatchObject({ method: 'CreateTask', err: { message: 'a secret of the inside' } });
  });
});
