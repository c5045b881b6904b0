import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { bind } from '@reelgate/platform/rpc/service';
import type { CallContext, CallOptions } from '@reelgate/platform/rpc/service';
import { aGate, inTime } from '@reelgate/platform/testing/bounded-waits';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { TRANSPORTS, closingTransports } from '@reelgate/platform/testing/rpc-transports';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { someTokens } from '../../testing/tokens.ts';
import { useJobWorlds } from '../../testing/jobs/open-job-world.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { aText, anImage, anOrder } from '../../testing/orders.ts';
import { jobService } from './job-service.ts';
import { toWireOrder } from '../operations/reads/work-messages.ts';
import { taskService } from './task-service.ts';

const REQUEST = {
  accountId: 'acme',
  tokenId: 'token_1',
  order: toWireOrder(anOrder()),
  idempotencyKey: 'k',
  requestFingerprint: 'f',
};
const CALL = { endpoint: 'audio.speech', model: 'a-voice', method: 'POST', path: '/v1/audio/speech' };
const NOT_ANSWERED = { kind: 'unavailable', reason: 'service_unavailable' };

const openWorld = useWorlds();
const openJobWorld = useJobWorlds();
const openFor = closingTransports();

beforeAll(() => {
  // Connect prints that it could not answer a caller that has left.
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

interface JournalledWorld {
  readonly journal: World['journal'];
}

/** Calls of a port wait from now on until they are released. `reached` resolves at the first call. */
function holdUp({ journal }: JournalledWorld, port: string) {
  const [reached, gate] = [aGate(), aGate()];
  journal.put(async ({ name }, proceed) => {
    if (name !== port) return proceed();
    reached.open();
    await gate.opened;
    return proceed();
  });
  return { reached: reached.opened, release: gate.open };
}

type Method = (request: unknown, context: CallContext) => Promise<unknown>;

/**
 * The same methods. `told` resolves when the signal of one of them is aborted, `idle` when all calls have ended.
 */
function watched<I extends object>(implementation: I) {
  const running: Promise<unknown>[] = [];
  const left = aGate();
  const wrapped = Object.entries(implementation).map(([name, method]: [string, Method]) => [
    name,
    (request: unknown, context: CallContext) => {
      context.signal.addEventListener('abort', left.open);
      const work = method(request, context);
      running.push(work.catch(() => undefined));
      return work;
    },
  ]);
  return {
    methods: Object.fromEntries(wrapped) as I,
    told: () => inTime(left.opened),
    idle: () => inTime(Promise.all(running)),
  };
}

interface Watched {
  readonly world: JournalledWorld;
  readonly told: () => Promise<unknown>;
  readonly settled: () => Promise<unknown>;
}

/** Makes a call whose caller leaves when the call reaches a port, and waits until the service has ended its work. */
async function abandonAt(
  port: string,
  { world, told, settled }: Watched,
  call: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const { reached, release } = holdUp(world, port);
  const caller = new AbortController();
  const answer = call(caller.signal);
  await inTime(reached);
  caller.abort();
  await expect(answer).rejects.toMatchObject(NOT_ANSWERED);
  await told();
  release();
  await settled();
}

async function written({ deps, billing, upstream }: World) {
  return {
    tasks: await deps.store.count({ hidden: true }),
    holds: billing.holds.size,
    submitted: upstream.submitted.length,
  };
}

const NOTHING = { tasks: 0, holds: 0, submitted: 0 };
const ONE_TASK = { tasks: 1, holds: 1, submitted: 1 };

describe('what a method asks of other services', () => {
  /** The calls of ports that had the signal of the method, or a part of it. */
  async function boundCalls(method: 'createTask' | 'checkOrder' | 'estimateOrder', request: object): Promise<string[]> {
    const { deps } = await openWorld();
    const caller = new AbortController();
    const bound: string[] = [];
    const noting = <P extends object>(name: string, port: P): P =>
      Object.fromEntries(
        Object.entries(port).map(([call, run]: [string, (...args: unknown[]) => unknown]) => [
          call,
          (...args: unknown[]) => {
            const isBound = (one: unknown): boolean =>
              one instanceof AbortSignal || (one as CallOptions | undefined)?.signal instanceof AbortSignal;
            if (args.some(isBound)) bound.push(`${name}.${call}`);
            return run(...args);
          },
        ]),
      ) as P;
    const watchedDeps = { ...deps, billing: noting('billing', deps.billing), media: noting('media', deps.media) };
    const methods = taskService(watchedDeps, someTokens()) as unknown as Readonly<Record<string, Method>>;
    await methods[method]!(request, { signal: caller.signal } as CallContext);
    return bound;
  }

  const order = toWireOrder(anOrder({ content: [aText(), anImage('first_frame')] }));

  test.each<[string, Parameters<typeof boundCalls>, readonly string[]]>([
    [
      'a create without a key, which ends with its caller',
      ['createTask', { ...REQUEST, order, idempotencyKey: '', requestFingerprint: '' }],
      ['billing.placeHold', 'media.stage'],
    ],
    ['a check', ['checkOrder', { ...REQUEST, order }], ['billing.checkHold']],
    ['an estimate', ['estimateOrder', { ...REQUEST, order }], ['billing.quote']],
  ])('has the deadline of its caller: %s', async (_what, [method, request], calls) => {
    expect(await boundCalls(method, request)).toEqual(calls);
  });

  test('has no deadline of the caller in a create with a key, which is finished without it', async () => {
    expect(await boundCalls('createTask', { ...REQUEST, order })).toEqual(['media.stage']);
  });
});

describe.each(TRANSPORTS)('over %s', (_name, open) => {
  async function aService() {
    const world = await openWorld();
    const { methods, told, idle } = watched(taskService(world.deps, someTokens()));
    const client = (await openFor(open, partialService(TaskService, methods))).client(TaskService);
    // The server knows of a call for certain once it has answered a later one.
    const settled = async (): Promise<void> => {
      await client.listTasks({ accountId: 'acme', limit: 1 });
      await idle();
    };
    await settled();
    return { world, client, told, settled };
  }

  /** A service after a create whose deadline passed while it waited at a port. */
  async function timedOutAt(port: string, timeoutMs: number) {
    const service = await aService();
    const { world, client, settled } = service;
    const { release } = holdUp(world, port);
    await expect(client.createTask(REQUEST, { timeoutMs })).rejects.toMatchObject(NOT_ANSWERED);
    await client.listTasks({ accountId: 'acme', limit: 1 });
    release();
    await settled();
    return service;
  }

  test.each([1, 3, 10, 300])(
    'a create with a deadline of %i ms, which passes before the task is durable, leaves nothing behind',
    async (timeoutMs) => {
      const { world, client } = await timedOutAt('store.findKey', timeoutMs);

      expect(await written(world)).toEqual(NOTHING);
      expect((await client.createTask(REQUEST)).replayed).toBe(false);
      expect(await written(world)).toEqual(ONE_TASK);
    },
  );

  test.each([1, 3, 10, 300])(
    'a create with a deadline of %i ms against a slow upstream leaves nothing, or a task that the key returns',
    async (timeoutMs) => {
      const { world, client } = await timedOutAt('main.submit', timeoutMs);

      const { tasks, ...rest } = await written(world);
      expect(rest).toEqual({ holds: tasks, submitted: tasks });
      const { task, replayed } = await client.createTask(REQUEST);
      expect([replayed, task?.id]).toEqual([tasks === 1, (await world.deps.store.list({}, { limit: 1 }))[0]?.id]);
      expect(await written(world)).toEqual(ONE_TASK);
    },
  );

  test.each([
    ['before the task is durable leaves nothing behind', 'store.begin', NOTHING],
    ['while its hold is placed is finished', 'billing.placeHold', ONE_TASK],
  ])('a create with a key whose caller leaves %s', async (_what, port, left) => {
    const service = await aService();
    const { world, client } = service;

    await abandonAt(port, service, (signal) => client.createTask(REQUEST, { signal }));

    expect(await written(world)).toEqual(left);
    expect((await client.createTask(REQUEST)).replayed).toBe(left === ONE_TASK);
  });

  test.each(['billing.placeHold', 'media.stage'])(
    'a create without a key whose caller leaves at %s is given up',
    async (port) => {
      const service = await aService();
      const { world, client } = service;
      const order = toWireOrder(anOrder({ content: [aText(), anImage('first_frame')] }));

      await abandonAt(port, service, (signal) =>
        client.createTask({ ...REQUEST, order, idempotencyKey: '', requestFingerprint: '' }, { signal }),
      );

      expect((await client.listTasks({ accountId: 'acme' })).tasks).toEqual([]);
      expect(world.upstream.submitted).toEqual([]);
      const [task] = await world.deps.store.list({ hidden: true }, { limit: 1 });
      expect(task).toMatchObject({ admission: 'refused', failure: { code: 'caller_left' } });
      expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['released']);
      expect(await world.deps.store.inFlight('total')).toBe(0);
    },
  );

  test('a job whose caller leaves before it is durable is not written', async () => {
    const world = await openJobWorld();
    const { methods, told, idle } = watched(jobService(world.deps, someTokens()));
    const client = (await openFor(open, bind(JobService, methods))).client(JobService);

    await abandonAt('store.findKey', { world, told, settled: idle }, (signal) =>
      client.createJob({ accountId: 'acme', tokenId: 'token_1', call: CALL, idempotencyKey: 'k' }, { signal }),
    );

    expect(await world.deps.jobs.listJobs({}, { limit: 10 })).toEqual([]);
    expect(world.announced).toEqual([]);
  });

  test('a cancellation whose caller leaves during the poll is not sent to the upstream', async () => {
    const service = await aService();
    const { world, client } = service;
    const { id } = (await client.createTask(REQUEST)).task!;
    world.upstream.pollResults.set('up-1', { found: true, report: { phase: 'queued', status: 'queued' } });

    await abandonAt('main.poll', service, (signal) => client.cancelTask({ accountId: 'acme', taskId: id }, { signal }));

    expect(world.journal.names()).not.toContain('main.cancel');
    expect(await world.deps.store.find(id)).toMatchObject({ state: 'queued' });
  });
});
