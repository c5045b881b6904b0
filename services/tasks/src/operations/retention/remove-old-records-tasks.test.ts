import { expect, test } from '@jest/globals';
import { NO_SPAN } from '@reelgate/platform/trace/trace-none';
import { useWorlds } from '../../../testing/open-world.ts';
import { aRegeneration } from '../../../testing/orders.ts';
import type { World } from '../../../testing/open-world.ts';
import type { Task } from '../../domain/task.ts';
import { completeTask } from '../polls/apply-report.ts';
import { removeOldTasks } from './remove-old-records.ts';
import { settleTask } from '../ends/settle-task.ts';

const open = useWorlds();
const DAY_MS = 24 * 3600 * 1000;

async function finished(world: World): Promise<Task> {
  const { task } = await world.create();
  await completeTask(world.deps, task, {
    phase: 'succeeded',
    status: 'succeeded',
    url: 'https://upstream.example/v.mp4',
  });
  const ended = (await world.deps.store.find(task.id))!;
  await settleTask(world.deps, ended, NO_SPAN);
  await world.deps.store.markSettled([ended.id], world.clock.now());
  return ended;
}

test('a finished task exists for its retention time, and is removed after it', async () => {
  const world = await open();
  const { id } = await finished(world);

  await world.clock.advance(90 * DAY_MS);
  await removeOldTasks(world.deps, 90 * DAY_MS);
  expect(await world.deps.store.find(id)).toBeDefined();

  await world.clock.advance(1);
  await removeOldTasks(world.deps, 90 * DAY_MS);
  expect(await world.deps.store.find(id)).toBeUndefined();
  expect(await world.deps.store.inFlight('total')).toBe(0);
});

test('a regeneration stays when its source is removed', async () => {
  const world = await open();
  const { id } = await finished(world);
  const { task } = await world.create(aRegeneration({ sourceTaskId: id }));

  await world.clock.advance(91 * DAY_MS);
  await removeOldTasks(world.deps, 90 * DAY_MS);
  expect(await world.deps.store.find(id)).toBeUndefined();

  await completeTask(world.deps, task, {
    phase: 'succeeded',
    status: 'succeeded',
    url: 'https://upstream.example/w.mp4',
  });
  expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'completed', seconds: 5 });
});

test('one pass removes one batch of old tasks, and leaves the rest to the next', async () => {
  const world = await open();
  const limits: number[] = [];
  const store = {
    ...world.deps.store,
    removeFinished: async ({ limit }: { readonly limit: number }) => {
      limits.push(limit);
      return limit;
    },
  };

  expect(await removeOldTasks({ ...world.deps, store }, DAY_MS)).toBe(0);

  expect(limits).toEqual([200]);
});
