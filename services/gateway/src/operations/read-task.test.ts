import { beforeEach, describe, expect, test } from '@jest/globals';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { Problem } from '@reelgate/platform/problem';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { TASK_ID, aCompletedTask, aTask } from '../../testing/a-task.ts';
import { fakeTasks } from '../../testing/fake-services.ts';
import type { FakeTasks } from '../../testing/fake-services.ts';
import { cacheTaskReads } from './read-task.ts';
import type { TaskReader } from './read-task.ts';

const ref = { accountId: 'demo', taskId: TASK_ID };
let clock: FakeClock;
let tasks: FakeTasks;
let reader: TaskReader;
let connection: number | undefined;

beforeEach(() => {
  clock = fakeClock();
  tasks = fakeTasks();
  tasks.tasks.set(`demo/${TASK_ID}`, aTask());
  connection = 0;
  reader = cacheTaskReads(tasks.client, clock, { connection: () => connection });
});

describe('a running task', () => {
  test('is fetched once a second, however many reads there are', async () => {
    await Promise.all(Array.from({ length: 100 }, () => Promise.resolve(reader.read(ref, ''))));
    await clock.advance(999);
    await reader.read(ref, '');
    expect(tasks.calls).toEqual(['getTask']);

    await clock.advance(1);
    await reader.read(ref, '');
    expect(tasks.calls).toHaveLength(2);
  });
  test('is fetched again after the clock is set back by hours', async () => {
    await reader.read(ref, '');
    await clock.advance(-5 * 3600 * 1000);
    await reader.read(ref, '');

    expect(tasks.calls).toHaveLength(2);
  });

  test('is fetched again once it changed', async () => {
    await reader.read(ref, '');
    tasks.tasks.set(`demo/${TASK_ID}`, aTask({ state: TaskState.IN_PROGRESS }));
    reader.forget(ref);

    expect((await reader.read(ref, '')).state).toBe(TaskState.IN_PROGRESS);
  });
  test('that changes while it is fetched is not cached in its old state', async () => {
    const first = reader.read(ref, '');
    reader.forget(ref);
    await first;
    tasks.tasks.set(`demo/${TASK_ID}`, aCompletedTask());

    expect((await reader.read(ref, '')).state).toBe(TaskState.COMPLETED);
  });
});

test('a finished task stays in the cache, but not forever', async () => {
  tasks.tasks.set(`demo/${TASK_ID}`, aCompletedTask());
  await reader.read(ref, '');
  await clock.advance(119_000);
  await reader.read(ref, '');
  expect(tasks.calls).toHaveLength(1);

  await clock.advance(1000);
  await reader.read(ref, '');
  expect(tasks.calls).toHaveLength(2);
});

test.each<[what: string, later: number | undefined]>([
  ['while the bus has no connection', undefined],
  ['after another connection was made, because the announcement of its deletion may be lost', 1],
])('a finished task is fetched once a second %s', async (_what, later) => {
  tasks.tasks.set(`demo/${TASK_ID}`, aCompletedTask());
  await reader.read(ref, '');
  connection = later;
  await clock.advance(999);
  await reader.read(ref, '');
  expect(tasks.calls).toHaveLength(1);

  await clock.advance(1);
  tasks.tasks.clear();

  await expect(reader.read(ref, '')).rejects.toMatchObject({ reason: 'task_not_found' });
});

test('an account does not see what is cached for another', async () => {
  await reader.read(ref, '');

  await expect(reader.read({ ...ref, accountId: 'other' }, '')).rejects.toMatchObject({ reason: 'task_not_found' });
  expect(tasks.calls).toHaveLength(2);
});

test('an unknown task is fetched once a second', async () => {
  const unknown = { accountId: 'demo', taskId: 'task_none' };
  for (let time = 0; time < 3; time += 1)
    await expect(reader.read(unknown, '')).rejects.toMatchObject({ reason: 'task_not_found' });
  expect(tasks.calls).toHaveLength(1);

  await clock.advance(1000);
  tasks.tasks.set('demo/task_none', aTask({ id: 'task_none' }));
  expect((await reader.read(unknown, '')).id).toBe('task_none');
});

test('a failed call is not cached', async () => {
  tasks.refuse(
    'getTask',
    new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'cannot be reached' }),
  );

  await expect(reader.read(ref, '')).rejects.toMatchObject({ reason: 'service_unavailable' });
  expect((await reader.read(ref, '')).id).toBe(TASK_ID);
});
