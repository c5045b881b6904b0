import { expect, test } from '@jest/globals';
import { useWorlds } from '../../../testing/open-world.ts';
import { deleteTask } from './delete-task.ts';

const open = useWorlds();

async function withTask() {
  const world = await open();
  return { world, task: (await world.create()).task };
}

test('a deleted task is hidden from its owner and its result is removed; the record stays', async () => {
  const { world, task } = await withTask();
  await world.deps.store.finish(task.id, { state: 'completed', at: 1 });

  expect(await deleteTask(world.deps, 'acme', task.id)).toBe(world.clock.now());

  expect(world.media.removed).toEqual([task.id]);
  expect(await world.deps.store.findOwned('acme', task.id)).toBeUndefined();
  expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'completed' });
  expect(world.announced.at(-1)).toMatchObject({ id: task.id });
  await expect(deleteTask(world.deps, 'acme', task.id)).rejects.toMatchObject({ reason: 'task_not_found' });
});

test('a repeated deletion is announced again, because the process of the first one may have died before', async () => {
  const { world, task } = await withTask();
  await world.deps.store.finish(task.id, { state: 'completed', at: 1 });
  await world.deps.store.remove(task.id, world.clock.now());
  const before = world.announced.length;

  await expect(deleteTask(world.deps, 'acme', task.id)).rejects.toMatchObject({ reason: 'task_not_found' });
  await expect(deleteTask(world.deps, 'rival', task.id)).rejects.toMatchObject({ reason: 'task_not_found' });

  expect(world.announced.slice(before)).toMatchObject([{ id: task.id, accountId: 'acme' }]);
});

test('an unfinished task cannot be deleted, and loses nothing', async () => {
  const { world, task } = await withTask();

  await expect(deleteTask(world.deps, 'acme', task.id)).rejects.toMatchObject({
    kind: 'conflict',
    reason: 'task_not_completed',
  });

  expect(world.media.removed).toEqual([]);
});

test('another account gets not found, and deletes nothing', async () => {
  const { world, task } = await withTask();
  await world.deps.store.finish(task.id, { state: 'completed', at: 1 });

  await expect(deleteTask(world.deps, 'rival', task.id)).rejects.toMatchObject({ reason: 'task_not_found' });

  expect(world.media.removed).toEqual([]);
  expect(await world.deps.store.findOwned('acme', task.id)).toBeDefined();
});

test('a task is kept when its result cannot be removed, so the call can be repeated', async () => {
  const { world, task } = await withTask();
  await world.deps.store.finish(task.id, { state: 'completed', at: 1 });
  world.journal.fail('media.remove', new Error('media is away'));

  await expect(deleteTask(world.deps, 'acme', task.id)).rejects.toThrow('media is away');
  await deleteTask(world.deps, 'acme', task.id);

  expect(world.media.removed).toEqual([task.id]);
});
