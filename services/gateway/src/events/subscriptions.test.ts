import { expect, test } from '@jest/globals';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import { silentLog } from '@reelgate/platform/log';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { keepingTracing } from '@reelgate/platform/testing/keeping-tracing';
import { create } from '@bufbuild/protobuf';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { EventsDispatchedSchema } from '@reelgate/proto/tasks/v1/webhook_events';
import { TASK_ID, aTask } from '../../testing/a-task.ts';
import { fakeTasks } from '../../testing/fake-services.ts';
import { awaitChange } from '../operations/await-change.ts';
import { cacheTaskReads } from '../operations/read-task.ts';
import { openTaskChanges } from '../operations/task-changes.ts';
import { onDeliveriesDue, onTaskChanged } from './subscriptions.ts';

const CARRIER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const NAME = 'process reelgate.tasks.v1.TaskChanged';
const ref = { accountId: 'demo', taskId: TASK_ID };

async function opened() {
  const clock = fakeClock();
  const tasks = fakeTasks();
  tasks.tasks.set(`demo/${TASK_ID}`, aTask());
  const { tracing, spans } = keepingTracing();
  const [bus, reader, changes] = [
    newLocalBus(clock, silentLog),
    cacheTaskReads(tasks.client, clock, { connection: () => 0 }),
    openTaskChanges(),
  ];
  await onTaskChanged(bus, { reader, changes, tracing });
  return {
    spans: () => spans().filter(({ name }) => name === NAME),
    read: async () => {
      const span = tracing.root('read', { class: 'read' });
      const gone = new AbortController().signal;
      const task = await awaitChange({ clock, reader, changes }, { task: ref, ms: 60_000, requestId: '', span, gone });
      span.end();
      return { task, links: spans().find(({ name }) => name === 'read')!.links };
    },
    change: async (trace: string) => {
      await clock.advance(0);
      tasks.tasks.set(`demo/${TASK_ID}`, aTask({ state: TaskState.IN_PROGRESS }));
      bus.announce(TaskChangedSchema, create(TaskChangedSchema, { ...ref, state: TaskState.IN_PROGRESS, trace }));
      await clock.advance(0);
    },
  };
}

test('a change that waiting reads hear is a span of the task, and the reads are linked to it', async () => {
  const world = await opened();
  const reads = [world.read(), world.read()];
  await world.change(CARRIER);
  const [one] = await Promise.all(reads);

  expect(one!.task.state).toBe(TaskState.IN_PROGRESS);
  expect(world.spans()).toMatchObject([
    {
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      parentSpanId: '00f067aa0ba902b7',
      kind: 'consumer',
      attributes: { 'reelgate.task.id': TASK_ID, 'reelgate.reads.woken': 2 },
    },
  ]);
  expect(one!.links).toEqual([{ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: world.spans()[0]!.spanId }]);
});

test('a change of a task that is not recorded wakes the reads without a span', async () => {
  const world = await opened();
  const read = world.read();
  await world.change('');

  expect((await read).task.state).toBe(TaskState.IN_PROGRESS);
  expect(world.spans()).toEqual([]);
});

test('a change that no read waits for has no span', async () => {
  const world = await opened();
  await world.change(CARRIER);

  expect(world.spans()).toEqual([]);
});

test.each([
  ['deliveries are due', { deliveriesDue: true }, 1],
  ['none is due', { deliveriesDue: false }, 0],
])('an announcement of dispatched events wakes the workers or not: %s', async (_name, announced, woken) => {
  const clock = fakeClock();
  const bus = newLocalBus(clock, silentLog);
  let wakes = 0;
  await onDeliveriesDue(bus, () => {
    wakes += 1;
  });
  bus.announce(EventsDispatchedSchema, create(EventsDispatchedSchema, announced));
  await clock.advance(0);

  expect(wakes).toBe(woken);
});
