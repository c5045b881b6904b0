import { expect, test } from '@jest/globals';
import { LOST } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import { catchRefusalFields } from '@reelgate/platform/testing/refusals';
import { getTask, listTasks } from './read-tasks.ts';

const open = useWorlds();

test('a task is readable by its account; for others it does not exist', async () => {
  const world = await open();
  const { task } = await world.create();
  const told = (accountId: string, taskId: string) => catchRefusalFields(getTask(world.deps, accountId, taskId));

  expect((await getTask(world.deps, 'acme', task.id)).id).toBe(task.id);
  expect(await told('rival', task.id)).toMatchObject({ kind: 'not_found', reason: 'task_not_found' });
  expect(await told('rival', task.id)).toEqual(await told('acme', 'task_none'));
});

test('a task whose submission is unknown is read and listed like any other', async () => {
  const world = await open();
  world.upstream.answer('main', LOST);
  const { task } = await world.create();

  expect(await getTask(world.deps, 'acme', task.id)).toMatchObject({ state: 'queued' });
  expect((await listTasks(world.deps, { accountId: 'acme' }, { limit: 10 }, false)).tasks.map(({ id }) => id)).toEqual([
    task.id,
  ]);
});

test('a page states whether more follow, and the total only on request', async () => {
  const world = await open();
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) ids.unshift((await world.create()).task.id);

  const first = await listTasks(world.deps, { accountId: 'acme' }, { limit: 2 }, true);
  const rest = await listTasks(world.deps, { accountId: 'acme' }, { limit: 2, after: first.tasks.at(-1)?.id }, false);

  expect([first.tasks.map(({ id }) => id), first.hasMore, first.total]).toEqual([ids.slice(0, 2), true, 3]);
  expect([rest.tasks.map(({ id }) => id), rest.hasMore, rest.total]).toEqual([ids.slice(2), false, undefined]);
});
