import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { aContextIr, aGeneration, aPrompt } from '../testing/bodies.ts';
import {
  contextIrPath,
  generationPath,
  queryPath,
  runningSandbox,
  type RunningSandbox,
} from '../testing/running-sandbox.ts';

let sandbox: RunningSandbox;
let ids: readonly string[];
beforeEach(async () => {
  sandbox = await runningSandbox();
  const failed = await sandbox.created(generationPath, aPrompt('[fail]'));
  const text = await sandbox.created(contextIrPath, aContextIr());
  sandbox.clock.advance(3000);
  ids = [failed, text, await sandbox.created(generationPath, aGeneration({ model: 'Other' }))];
});
afterEach(() => sandbox.stop());

const listed = async (query: string): Promise<unknown> => {
  const { body } = await sandbox.call('GET', `${queryPath}?${query}`);
  const { items, total } = body as { readonly items: readonly { readonly id: string }[]; readonly total: number };
  return [items.map((item) => ids.indexOf(item.id)), total];
};

test.each<[string, string, readonly number[], number]>([
  ['everything, newest first', '', [2, 1, 0], 3],
  ['the first page', 'page_num=1&page_size=2', [2, 1], 3],
  ['the second page', 'page_num=2&page_size=2', [0], 3],
  ['a page past the end', 'page_num=9', [], 3],
  ['by status', 'filter.status=failed', [0], 1],
  ['by model', 'filter.model=Other', [2], 1],
  ['by kind', 'filter.task_type=h3_context_ir', [1], 1],
  ['by two filters', 'filter.task_type=generation&filter.status=queued', [2], 1],
])('lists %s', async (_name, query, items, total) => {
  expect(await listed(query)).toEqual([items, total]);
});

test('a list can be filtered by several ids', async () => {
  expect(await listed(`filter.task_ids=${ids[0]}&filter.task_ids=${ids[2]}`)).toEqual([[2, 0], 2]);
});

test.each(['page_num=0', 'page_num=x', 'page_size=0', 'page_size=101'])('refuses %s', async (query) => {
  const { status } = await sandbox.call('GET', `${queryPath}?${query}`);

  expect(status).toBe(400);
});

test('a list shows a task as its query does', async () => {
  const { body } = await sandbox.call('GET', `${queryPath}?filter.status=failed`);

  expect(body).toEqual({ items: [await sandbox.task(ids[0] ?? '')], total: 1 });
});

test('a deleted queued task is cancelled and stays readable', async () => {
  const id = await sandbox.created(generationPath, aPrompt('A fox'));

  const reply = await sandbox.call('DELETE', `${generationPath}/${id}`);
  sandbox.clock.advance(5000);

  expect([reply.status, reply.body]).toEqual([200, { task_id: id, action: 'cancelled', status: 'cancelled' }]);
  expect(await sandbox.task(id)).toMatchObject({ status: 'cancelled', usage: {} });
});

test.each(['A fox', '[fail]', '[expired]'])('a deleted finished task is gone (%s)', async (prompt) => {
  const id = await sandbox.created(generationPath, aPrompt(prompt));
  sandbox.clock.advance(5000);

  const reply = await sandbox.call('DELETE', `${generationPath}/${id}`);
  const query = await sandbox.call('GET', `${queryPath}/${id}`);

  expect(reply.body).toEqual({ task_id: id, action: 'deleted', status: 'deleted' });
  expect(query.status).toBe(400);
});

test.each([
  ['running', '[never]'],
  ['cancelled', '[cancelled]'],
  ['paused', '[unknown:paused]'],
])('a delete of a %s task is refused', async (status, prompt) => {
  const id = await sandbox.created(generationPath, aPrompt(prompt));
  sandbox.clock.advance(5000);

  const reply = await sandbox.call('DELETE', `${generationPath}/${id}`);

  expect([reply.status, reply.text]).toEqual([
    400,
    expect.stringContaining(`invalid params, a ${status} task can be neither cancelled nor deleted (2013)`),
  ]);
  expect(await sandbox.task(id)).toMatchObject({ status });
});
