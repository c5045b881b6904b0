import { create as message } from '@bufbuild/protobuf';
import { afterEach, describe, expect, test } from '@jest/globals';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import { systemClock } from '@reelgate/platform/clock';
import { newLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { inTime } from '@reelgate/platform/testing/bounded-waits';
import { partialService, silenceRpcLibraries } from '@reelgate/platform/testing/partial-service';
import { TRANSPORTS, closingTransports } from '@reelgate/platform/testing/rpc-transports';
import { until } from '@reelgate/platform/testing/until';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task as WireTask } from '@reelgate/proto/tasks/v1/task';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { Task, TaskIdentity } from '../domain/task.ts';
import { useWorlds } from '../../testing/open-world.ts';
import { startWatches } from '../workers/watches.ts';
import { watchService } from './watch-service.ts';

const UNKNOWN = 9 as never;
const openWorld = useWorlds();
const openFor = closingTransports();
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
silenceRpcLibraries();

/** The streams on a real store, with the workers and the bus of a process. */
async function aService(open: (typeof TRANSPORTS)[number][1]) {
  const world = await openWorld();
  const bus = newLocalBus(systemClock, silentLog);
  const metrics = newMetrics(false);
  const lifecycle = newLifecycle(silentLog);
  const watches = await startWatches(
    { store: world.deps.store, clock: systemClock, log: silentLog, bus, metrics },
    lifecycle,
  );
  ends.push(() => lifecycle.stop());
  const opened = await openFor(open, partialService(TaskService, watchService(watches, systemClock)));
  const announce = ({ id: taskId, accountId }: TaskIdentity): void => {
    bus.announce(TaskChangedSchema, message(TaskChangedSchema, { taskId, accountId }));
  };
  return {
    client: opened.client(TaskService),
    /** A create, with what it announces. */
    create: async () => {
      const { task } = await world.create();
      for (const announced of (world.announced as Task[]).splice(0)) announce(announced);
      return task;
    },
    newOpenWatches: async () =>
      Object.fromEntries(
        [...(await metrics.text()).matchAll(/^reelgate_watches{method="(\w+)"} (\d+)/gm)].map(([, method, count]) => [
          method,
          Number(count),
        ]),
      ),
    advance: async (task: Task, progress: number) => {
      const at = systemClock.now();
      const seen = { upstreamStatus: 'running', unrecognised: false, progress, pollErrors: 0, nextPollAt: at, at };
      await world.deps.store.progress(task.id, task.state, { ...seen, state: 'in_progress' });
      announce(task);
    },
    finish: async (task: Task) => {
      await world.deps.store.finish(task.id, { state: 'failed', at: systemClock.now() });
      announce(task);
    },
  };
}

/** Reads one message after another, each within a time limit. */
function reading<M extends { readonly task?: WireTask | undefined; readonly cursor: string }>(
  stream: AsyncIterable<M>,
) {
  const iterator = stream[Symbol.asyncIterator]();
  return {
    next: async () => {
      const { done, value } = await inTime(iterator.next());
      if (done === true) return 'the end';
      const { task, cursor } = value;
      return task === undefined
        ? { cursor }
        : { id: task.id, state: TaskState[task.state], progress: task.progress, cursor };
    },
    leave: () => iterator.return?.(),
  };
}

describe.each(TRANSPORTS)('over %s', (_name, open) => {
  test('a watch gives the task now, each change, and the end; its cursor goes on where it stopped', async () => {
    const { client, create, advance, finish } = await aService(open);
    const task = await create();
    const named = { accountId: 'acme', taskId: task.id };

    const first = reading(client.watchTask(named));
    expect(await first.next()).toMatchObject({ id: task.id, state: 'QUEUED', progress: 0 });
    await advance(task, 30);
    const second = await first.next();
    expect(second).toMatchObject({ state: 'IN_PROGRESS', progress: 30 });
    await first.leave();

    const { cursor } = second as { cursor: string };
    const resumed = reading(client.watchTask({ ...named, cursor }));
    expect(await resumed.next()).toEqual({ cursor });
    await finish(task);
    expect(await resumed.next()).toMatchObject({ state: 'FAILED' });
    expect(await resumed.next()).toBe('the end');
  });

  test('a watch of an account gives the unfinished tasks, then new ones and each change', async () => {
    const { client, create, advance } = await aService(open);
    const task = await create();
    const all = reading(client.watchTasks({ accountId: 'acme' }));
    const running = reading(client.watchTasks({ accountId: 'acme', states: [TaskState.IN_PROGRESS] }));
    expect(await all.next()).toMatchObject({ id: task.id, state: 'QUEUED' });
    expect(await all.next()).toEqual({ cursor: expect.any(String) });
    expect(await running.next()).toEqual({ cursor: expect.any(String) });

    await advance(task, 30);

    expect(await all.next()).toMatchObject({ id: task.id, progress: 30 });
    expect(await running.next()).toMatchObject({ id: task.id, progress: 30 });
    const other = await create();
    expect(await all.next()).toMatchObject({ id: other.id, state: 'QUEUED' });
    await Promise.all([all.leave(), running.leave()]);
  });

  test('a watch that its caller leaves is closed', async () => {
    const { client, create, newOpenWatches } = await aService(open);
    const task = await create();
    const one = reading(client.watchTask({ accountId: 'acme', taskId: task.id }));
    const all = reading(client.watchTasks({ accountId: 'acme' }));
    await Promise.all([one.next(), all.next()]);
    expect(await newOpenWatches()).toMatchObject({ WatchTask: 1, WatchTasks: 1 });

    await Promise.all([one.leave(), all.leave()]);

    await until(async () => {
      const { WatchTask, WatchTasks } = await newOpenWatches();
      return WatchTask === 0 && WatchTasks === 0;
    });
  });

  test('a request that names no task, no cursor or no known filter is refused by its field', async () => {
    const { client } = await aService(open);
    const refused = (stream: AsyncIterable<{ readonly task?: WireTask | undefined; readonly cursor: string }>) =>
      expect(reading(stream).next()).rejects;

    await refused(client.watchTask({ accountId: 'acme', taskId: 'task_none' })).toMatchObject({
      kind: 'not_found',
      reason: 'task_not_found',
    });
    await refused(client.watchTask({ accountId: 'acme', taskId: 'task_none', cursor: 'x' })).toMatchObject({
      field: 'cursor',
    });
    await refused(client.watchTasks({ accountId: 'acme', cursor: 'x' })).toMatchObject({ field: 'cursor' });
    await refused(client.watchTasks({ accountId: 'acme', states: [TaskState.QUEUED, UNKNOWN] })).toMatchObject({
      kind: 'invalid',
      field: 'states[1]',
    });
    await refused(client.watchTasks({ accountId: 'acme', kind: UNKNOWN })).toMatchObject({ field: 'kind' });
    await refused(client.watchTask({ accountId: 'acme' })).toMatchObject({ field: 'task_id' });
    await refused(client.watchTasks({})).toMatchObject({ field: 'account_id' });
  });
});
