import { describe, expect, test } from '@jest/globals';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { CreateTaskOutcome } from '@reelgate/proto/tasks/v1/task_service';
import { aGate, inTime } from '../../testing/bounded-waits.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { keepingTracing } from '../../testing/keeping-tracing.ts';
import { partialService, silenceRpcLibraries } from '../../testing/partial-service.ts';
import { catchRefusal, readFields } from '../../testing/refusals.ts';
import { TRANSPORTS, closingTransports, openConnect, openGrpc } from '../../testing/rpc-transports.ts';
import { newMetrics } from '../metrics/metrics.ts';
import { Problem } from '../problem.ts';
import { currentRequestId } from '../request-context.ts';
import { measureBinding } from './measure-binding.ts';
import { fromWireProblem } from './problems.ts';
import type { Client, Implementation } from './service.ts';

const ORDER = { kind: TaskKind.GENERATION, model: 'Alpha-H3' };
const LIST_MAX = 64;
const MEBIBYTE = 1024 * 1024;

const openFor = closingTransports();
silenceRpcLibraries();

/** A service whose lists of creates run the create of the test. */
const bindCreates = (createTask: Implementation<typeof TaskService>['createTask']) =>
  partialService(TaskService, { createTask }, { createTasks: 'createTask' });

/** A create of the account, whose label names it. */
const aCreate = (label: string, accountId = 'demo') => ({ accountId, tokenId: 'token_1', label, order: ORDER });
const answer = (id: string) => ({ task: { id } });

type Tasks = Client<typeof TaskService>;

async function readAll(tasks: Tasks, calls: readonly object[]): Promise<readonly (readonly CreateTaskOutcome[])[]> {
  const messages: CreateTaskOutcome[][] = [];
  for await (const { outcomes } of tasks.createTasks({ calls: [...calls] })) messages.push(outcomes);
  return messages;
}

/** The ids of the tasks, or the reasons of the refusals, in the order of the calls. */
const readOutcomes = (messages: readonly (readonly CreateTaskOutcome[])[]): readonly unknown[] =>
  messages
    .flat()
    .toSorted((one, other) => one.call - other.call)
    .map(({ result }) => (result.case === 'answer' ? result.value.task?.id : result.value?.reason));

describe.each(TRANSPORTS)('a list of calls over %s', (_name, open) => {
  test('answers or refuses each as a call of its own', async () => {
    const full = new Problem({
      kind: 'exhausted',
      reason: 'too_many_tasks',
      message: 'the token has enough',
      field: 'token_id',
      retryAfterMs: 1500,
      metadata: { limit: '20' },
    });
    const { client } = await openFor(
      open,
      bindCreates(async ({ label }) => {
        if (label === 'full') throw full;
        if (label === 'broken') throw new Error('a secret of the service');
        return answer(label);
      }),
    );
    const tasks = client(TaskService);
    const requests = [aCreate('first'), aCreate('full'), aCreate('broken'), aCreate('two words'), {}, aCreate('last')];
    const alone = await Promise.all(requests.slice(1, -1).map((one) => catchRefusal(tasks.createTask(one))));

    const messages = await readAll(tasks, [...requests.map((request) => ({ request })), {}]);

    expect(readOutcomes(messages)).toEqual([
      'first',
      'too_many_tasks',
      'internal_error',
      'invalid_request',
      'invalid_request',
      'last',
      'invalid_request',
    ]);
    const refusals = messages
      .flat()
      .toSorted((one, other) => one.call - other.call)
      .flatMap(({ result }) => (result.case === 'refusal' ? [fromWireProblem(result.value)] : []));
    expect(refusals.slice(0, -1).map(readFields)).toEqual(alone.map(readFields));
    expect(refusals[0]?.metadata).toEqual(full.metadata);
  });

  test('gives an outcome while another call still runs', async () => {
    const slow = aGate();
    const { client } = await openFor(
      open,
      bindCreates(async ({ label }) => {
        if (label === 'slow') await slow.opened;
        return answer(label);
      }),
    );

    const stream = client(TaskService)
      .createTasks({ calls: ['slow', 'quick'].map((label) => ({ request: aCreate(label) })) })
      [Symbol.asyncIterator]();

    const first = await inTime(stream.next());
    slow.open();
    const second = await inTime(stream.next());
    const end = await inTime(stream.next());
    expect(
      [first, second].map(({ value }) => readOutcomes([(value as { outcomes: CreateTaskOutcome[] }).outcomes])),
    ).toEqual([['quick'], ['slow']]);
    expect(end.done).toBe(true);
  });

  test.each([0, LIST_MAX + 1])('of %p calls is refused as a whole', async (count) => {
    let runs = 0;
    const { client } = await openFor(
      open,
      bindCreates(async () => {
        runs += 1;
        return {};
      }),
    );
    const calls = Array.from({ length: count }, () => ({ request: aCreate('x') }));

    await expect(readAll(client(TaskService), calls)).rejects.toMatchObject({ kind: 'invalid', field: 'calls' });

    expect(runs).toBe(0);
  });

  test('gives outcomes that are too large for one message in several', async () => {
    const { client } = await openFor(
      open,
      bindCreates(async ({ label }) => ({ task: { id: label, order: { size: 'x'.repeat(3 * MEBIBYTE) } } })),
    );
    const labels = ['first', 'second', 'third'];

    const messages = await readAll(
      client(TaskService),
      labels.map((label) => ({ request: aCreate(label) })),
    );

    expect(readOutcomes(messages)).toEqual(labels);
    expect(messages).toHaveLength(labels.length);
  });
});

describe.each([
  ['gRPC', openGrpc],
  ['Connect with JSON', openConnect],
] as const)('a server of %s', (_name, open) => {
  test('keeps the request and the trace of each call of a list, and measures it', async () => {
    const { tracing, spans } = keepingTracing();
    const clock = fakeClock();
    const metrics = newMetrics(false, clock);
    const seen: unknown[] = [];
    const binding = bindCreates(async ({ label }, { requestId }) => {
      seen.push([label, requestId, currentRequestId()]);
      return answer(label);
    });
    const { client } = await openFor(open, measureBinding(binding, { metrics, clock }), tracing);
    const roots = ['one', 'other'].map((name) => tracing.root(name, { class: 'create' }));

    await readAll(client(TaskService), [
      ...roots.map(({ carrier }, index) => ({
        request: aCreate(`task_${index}`),
        requestId: `request_${index}`,
        traceParent: carrier,
      })),
      { request: aCreate('none'), requestId: 'not a request id', traceParent: 'not a carrier' },
    ]);

    expect(seen).toEqual([
      ['task_0', 'request_0', 'request_0'],
      ['task_1', 'request_1', 'request_1'],
      ['none', '', undefined],
    ]);
    expect(spans().filter(({ kind }) => kind === 'server')).toMatchObject(
      roots.map(({ traceId }) => ({ name: 'reelgate.tasks.v1.TaskService/CreateTask', traceId })),
    );
    expect(await metrics.text()).toContain('reelgate_rpc_seconds_count{method="TaskService/CreateTask",status="OK"} 3');
  });

  test('refuses the list of a caller whose accounts are others, and runs none of its calls', async () => {
    let runs = 0;
    const { client } = await openFor(
      open,
      bindCreates(async () => {
        runs += 1;
        return {};
      }),
    );
    const calls = ['demo', 'acme'].map((accountId) => ({ request: aCreate('x', accountId) }));

    await expect(readAll(client(TaskService, 'key-of-reporting'), calls)).rejects.toMatchObject({
      reason: 'account_not_allowed',
    });
    await expect(readAll(client(TaskService, 'key-of-the-reader'), calls)).rejects.toMatchObject({
      reason: 'scope_missing',
    });
    await expect(readAll(client(TaskService, 'wrong'), calls)).rejects.toMatchObject({ reason: 'invalid_caller_key' });

    expect(runs).toBe(0);
  });

  test('logs the fault of a call, and no refusal', async () => {
    const { client, logged } = await openFor(
      open,
      bindCreates(async ({ label }) => {
        if (label === 'broken') throw new Error('a fault');
        throw new Problem({ kind: 'conflict', reason: 'a_refusal', message: 'no' });
      }),
    );

    await readAll(
      client(TaskService),
      ['broken', 'refused'].map((label) => ({ request: aCreate(label) })),
    );

    expect(logged).toMatchObject([{ method: 'CreateTask', err: { message: 'a fault' } }]);
  });

  test('tells each call of a list that its caller has left, and waits for them when it stops', async () => {
    const [begun, told, working] = [aGate(), aGate(), aGate()];
    let ended = 0;
    const { client, stopServer } = await openFor(
      open,
      bindCreates(async (_request, { signal }) => {
        signal.addEventListener('abort', told.open);
        begun.open();
        await working.opened;
        ended += 1;
        return {};
      }),
    );
    const leaving = new AbortController();
    const list = client(TaskService).createTasks(
      { calls: ['a', 'b'].map((label) => ({ request: aCreate(label) })) },
      { signal: leaving.signal },
    );
    const read = catchRefusal(list[Symbol.asyncIterator]().next());
    await inTime(begun.opened);

    leaving.abort();
    await read;
    await inTime(told.opened);
    const stopped = stopServer();
    working.open();
    await inTime(stopped);

    expect(ended).toBe(2);
  });
});

test('a server of gRPC gives the outcomes of the lists that run when it stops', async () => {
  const [begun, working] = [aGate(), aGate()];
  const { client, stopServer } = await openFor(
    openGrpc,
    bindCreates(async ({ label }) => {
      begun.open();
      await working.opened;
      return answer(label);
    }),
  );
  const read = readAll(
    client(TaskService),
    ['a', 'b'].map((label) => ({ request: aCreate(label) })),
  );
  await inTime(begun.opened);

  const stopped = stopServer();
  working.open();

  expect(readOutcomes(await inTime(read))).toEqual(['a', 'b']);
  await inTime(stopped);
});
