import { beforeEach, expect, test } from '@jest/globals';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { TASK_ID, aCompletedTask, aTask } from '../../testing/a-task.ts';
import { fakeTasks } from '../../testing/fake-services.ts';
import type { FakeTasks } from '../../testing/fake-services.ts';
import type { Task } from '../clients/tasks-client.ts';
import { awaitChange } from './await-change.ts';
import { cacheTaskReads } from './read-task.ts';
import { openTaskChanges } from './task-changes.ts';

const ref = { accountId: 'demo', taskId: TASK_ID };
let clock: FakeClock;
let tasks: FakeTasks;
let change: (task: Task) => void;
let wait: (ms: number, gone?: AbortSignal) => { done: () => boolean; task: Promise<Task> };

beforeEach(() => {
  clock = fakeClock();
  tasks = fakeTasks();
  tasks.tasks.set(`demo/${TASK_ID}`, aTask());
  const reader = cacheTaskReads(tasks.client, clock, { connection: () => 0 });
  const changes = openTaskChanges();
  change = (task) => {
    tasks.tasks.set(`demo/${TASK_ID}`, task);
    reader.forget(ref);
    changes.announceChange(ref);
  };
  wait = (ms, gone = new AbortController().signal) => {
    let done = false;
    const task = awaitChange({ clock, reader, changes }, { task: ref, ms, requestId: '', gone }).finally(() => {
      done = true;
    });
    return { task, done: () => done };
  };
});

test('the wait ends when the status changes, not before', async () => {
  const waiting = wait(20_000);
  await clock.advance(5000);
  change(aTask({ progress: 30 }));
  await clock.advance(0);
  expect(waiting.done()).toBe(false);

  change(aTask({ state: TaskState.IN_PROGRESS }));
  await clock.advance(0);
  expect((await waiting.task).state).toBe(TaskState.IN_PROGRESS);
});

test('a change to an unknown status ends the wait', async () => {
  const waiting = wait(20_000);
  await clock.advance(0);
  change(aTask({ unrecognisedStatus: 'paused_by_moon' }));
  await clock.advance(0);

  expect((await waiting.task).unrecognisedStatus).toBe('paused_by_moon');
});

test('the wait ends when the time is over, and reads only then', async () => {
  const waiting = wait(20_000);
  await clock.advance(0);
  await clock.advance(19_999);
  expect(waiting.done()).toBe(false);
  expect(tasks.calls).toEqual(['getTask']);

  await clock.advance(1);
  expect((await waiting.task).state).toBe(TaskState.QUEUED);
  expect(tasks.calls).toHaveLength(2);
});

test('a clock that is set back by hours does not prolong the wait', async () => {
  const waiting = wait(20_000);
  await clock.advance(0);
  await clock.advance(-5 * 3600 * 1000);
  change(aTask({ progress: 30 }));
  await clock.advance(0);

  expect(waiting.done()).toBe(true);
  expect((await waiting.task).progress).toBe(30);
});

test('a lost event costs the rest of the time, not the answer', async () => {
  const waiting = wait(20_000);
  await clock.advance(1000);
  tasks.tasks.set(`demo/${TASK_ID}`, aCompletedTask());
  await clock.advance(19_000);

  expect((await waiting.task).state).toBe(TaskState.COMPLETED);
});

test('a finished task is answered at once', async () => {
  tasks.tasks.set(`demo/${TASK_ID}`, aCompletedTask());

  expect((await wait(20_000).task).state).toBe(TaskState.COMPLETED);
});

test('the wait ends when the client leaves', async () => {
  const gone = new AbortController();
  const waiting = wait(20_000, gone.signal);
  await clock.advance(0);
  gone.abort();

  expect((await waiting.task).state).toBe(TaskState.QUEUED);
});

test('an event during the first read is not missed', async () => {
  const waiting = wait(20_000);
  change(aTask({ state: TaskState.IN_PROGRESS }));

  expect((await waiting.task).state).toBe(TaskState.IN_PROGRESS);
});

test('an unknown task is refused at once', async () => {
  tasks.tasks.clear();

  await expect(wait(20_000).task).rejects.toMatchObject({ reason: 'task_not_found' });
});
