import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { aPrompt } from '../testing/bodies.ts';
import { generationPath, queryPath, runningSandbox, type RunningSandbox } from '../testing/running-sandbox.ts';

let sandbox: RunningSandbox;
beforeEach(async () => {
  sandbox = await runningSandbox();
});
afterEach(() => sandbox.stop());

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
