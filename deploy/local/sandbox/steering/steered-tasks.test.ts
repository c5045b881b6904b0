import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { aPrompt, aRegeneration } from '../testing/bodies.ts';
import {
  generationPath,
  queryPath,
  regenerationPath,
  runningSandbox,
  type RunningSandbox,
} from '../testing/running-sandbox.ts';

let sandbox: RunningSandbox;
beforeEach(async () => {
  sandbox = await runningSandbox();
});
afterEach(() => sandbox.stop());

const create = (prompt: string): ReturnType<RunningSandbox['call']> =>
  sandbox.call('POST', generationPath, aPrompt(prompt));
const total = async (): Promise<unknown> => (await sandbox.call('GET', queryPath)).body;
const finished = async (prompt: string): ReturnType<RunningSandbox['task']> => {
  const id = await sandbox.created(generationPath, aPrompt(prompt));
  sandbox.clock.advance(5000);
  return sandbox.task(id);
};

test.each<[string, number, string, string]>([
  ['[refuse]', 400, 'bad_request_error', 'invalid params (2013)'],
  [
    '[refuse:401]',
    401,
    'authorized_error',
    "login fail: Please carry the API secret key in the 'Authorization' field of the request header (1004)",
  ],
  ['[refuse:2049]', 401, 'authorized_error', 'invalid api key (2049)'],
  ['[refuse:402]', 402, 'insufficient_balance_error', 'insufficient balance (1008)'],
  ['[refuse:422]', 422, 'unprocessable_entity_error', 'video description contains sensitive content (1026)'],
  ['[refuse:429]', 429, 'rate_limit_error', 'rate limit, please retry later (1002)'],
  ['[refuse:1041]', 429, 'rate_limit_error', 'connection limit, please retry later (1041)'],
  ['[refuse:500]', 500, 'server_error', 'internal error (1000)'],
  ['[refuse:503]', 503, 'server_error', 'internal error (1000)'],
  ['[refuse:529]', 529, 'overloaded_error', 'the service is overloaded (1000)'],
])('a create with %s is refused and makes no task', async (prompt, status, type, message) => {
  const reply = await create(prompt);

  expect(reply).toMatchObject({ status, body: { type: 'error', error: { type, message, http_code: String(status) } } });
  expect(await total()).toEqual({ items: [], total: 0 });
});

test('a create with [refuse-once:429] is refused once, then accepted', async () => {
  const statuses = [(await create('[refuse-once:429]')).status, (await create('[refuse-once:429]')).status];

  expect(statuses).toEqual([429, 200]);
});

test.each<[string, unknown]>([
  ['[html]', undefined],
  ['[no-id]', {}],
  ['[base-resp]', { base_resp: { status_code: 1008, status_msg: 'insufficient balance (1008)' } }],
])('a create with %s is answered 200 and makes no task', async (prompt, body) => {
  const reply = await create(prompt);

  expect([reply.status, reply.body]).toEqual([200, body]);
  expect(await total()).toEqual({ items: [], total: 0 });
});

test('[reset] accepts the task and cuts the connection', async () => {
  await expect(create('[reset]')).rejects.toThrow('fetch failed');

  expect(await total()).toMatchObject({ total: 1 });
});

test.each<[string, object]>([
  ['[fail]', { status: 'failed', error: { code: '1027', message: 'output contains sensitive content' }, usage: {} }],
  [
    '[fail:1026]',
    { status: 'failed', error: { code: '1026', message: 'video description contains sensitive content' } },
  ],
  ['[no-usage]', { status: 'succeeded', usage: {} }],
  ['[seconds:3]', { status: 'succeeded', usage: { total_seconds: 3, output_seconds: 3 } }],
  ['[tokens:500]', { status: 'succeeded', usage: { total_tokens: 500 } }],
])('a task with %s ends as the word says', async (prompt, task) => {
  expect(await finished(prompt)).toMatchObject(task);
});

test('a task with [no-url] succeeds without a result', async () => {
  const task = await finished('[no-url]');

  expect(task.status).toBe('succeeded');
  expect(task).not.toHaveProperty('content');
});

test('[poll-error:500x2] refuses the first two reads', async () => {
  const id = await sandbox.created(generationPath, aPrompt('[poll-error:500x2]'));

  const statuses = [
    await sandbox.call('GET', `${queryPath}/${id}`),
    await sandbox.call('GET', `${queryPath}/${id}`),
    await sandbox.call('GET', `${queryPath}/${id}`),
  ].map(({ status }) => status);

  expect(statuses).toEqual([500, 500, 200]);
});

test('[poll-html] answers the first read with a page', async () => {
  const id = await sandbox.created(generationPath, aPrompt('[poll-html]'));

  const replies = [await sandbox.call('GET', `${queryPath}/${id}`), await sandbox.call('GET', `${queryPath}/${id}`)];

  expect(replies.map(({ headers }) => headers.get('content-type'))).toEqual([
    'text/html; charset=utf-8',
    'application/json',
  ]);
});

test('[poll-reset] cuts the first read', async () => {
  const id = await sandbox.created(generationPath, aPrompt('[poll-reset]'));

  await expect(sandbox.call('GET', `${queryPath}/${id}`)).rejects.toThrow('fetch failed');
  expect(await sandbox.task(id)).toMatchObject({ id });
});

test('[r:no-source-id] and [r:fail] in a source steer its regeneration', async () => {
  const [closed, failing] = [await finished('[r:no-source-id]'), await finished('[r:fail]')];

  const refusal = await sandbox.call('POST', regenerationPath, aRegeneration({ source_task_id: closed.id }));
  const id = await sandbox.created(regenerationPath, aRegeneration({ source_task_id: failing.id }));
  sandbox.clock.advance(5000);

  expect([closed.status, failing.status, refusal.status, (await sandbox.task(id)).status]).toEqual([
    'succeeded',
    'succeeded',
    400,
    'failed',
  ]);
});
