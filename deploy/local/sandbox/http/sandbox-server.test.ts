import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { request } from 'node:http';
import { bodyBytesMax } from '../limits.ts';
import { aGeneration } from '../testing/bodies.ts';
import { generationPath, queryPath, runningSandbox, type RunningSandbox } from '../testing/running-sandbox.ts';

let sandbox: RunningSandbox;
beforeEach(async () => {
  sandbox = await runningSandbox();
});
afterEach(() => sandbox.stop());

type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};
type Refused = { readonly status: number; readonly type: string; readonly message: string };

const badRequest = (status: number, message: string): Refused => ({ status, type: 'bad_request_error', message });
const unauthorized = (message: string): Refused => ({ status: 401, type: 'authorized_error', message });
const post = { method: 'POST', path: generationPath };

test.each<[string, Asked, Refused]>([
  [
    'no key',
    { ...post, headers: { authorization: '' }, body: {} },
    unauthorized(
      "login fail: Please carry the API secret key in the 'Authorization' field of the request header (1004)",
    ),
  ],
  [
    'a wrong key',
    { ...post, headers: { authorization: 'Bearer other' }, body: {} },
    unauthorized('invalid api key (2049)'),
  ],
  ['a body that is not JSON', { ...post, body: '{' }, badRequest(400, 'invalid params, the body is not JSON (2013)')],
  [
    'a body that is not an object',
    { ...post, body: [] },
    badRequest(400, 'invalid params, the body must be an object (2013)'),
  ],
  [
    'an unknown task',
    { method: 'GET', path: `${queryPath}/424010985738629` },
    badRequest(400, 'invalid task_id (2013)'),
  ],
  [
    'an unknown task to delete',
    { method: 'DELETE', path: `${generationPath}/424010985738629` },
    badRequest(400, 'invalid task_id (2013)'),
  ],
  ['an unknown path', { method: 'GET', path: '/v2/nothing' }, badRequest(404, 'no route for GET /v2/nothing (2013)')],
  [
    'a wrong method',
    { method: 'PUT', path: generationPath, body: {} },
    badRequest(405, 'no route for PUT /v2/video_generation (2013)'),
  ],
])(
  "%s is answered in the vendor's error envelope",
  async (_name, { method, path, body, headers }, { status, type, message }) => {
    const reply = await sandbox.call(method, path, body, headers);

    expect(reply.status).toBe(status);
    expect(reply.body).toEqual({
      type: 'error',
      error: { type, message, http_code: String(status) },
      request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  },
);

test('a body is refused before it is sent if its declared length is too long', async () => {
  const sent = request(new URL(generationPath, sandbox.url), {
    method: 'POST',
    headers: { authorization: 'Bearer sandbox', 'content-length': bodyBytesMax + 1 },
  });
  sent.on('error', () => undefined);
  sent.flushHeaders();

  const [response] = (await once(sent, 'response')) as [{ statusCode: number }];

  expect(response.statusCode).toBe(413);
  sent.destroy();
});

test('a body without a declared length is refused once it is too long', async () => {
  const sent = request(new URL(generationPath, sandbox.url), {
    method: 'POST',
    headers: { authorization: 'Bearer sandbox', 'transfer-encoding': 'chunked' },
  });
  sent.on('error', () => undefined);
  sent.end(Buffer.alloc(bodyBytesMax + 1, 32));

  const [response] = (await once(sent, 'response')) as [{ statusCode: number }];

  expect(response.statusCode).toBe(413);
  sent.destroy();
});

test('a create is answered with the task id only, in fifteen digits', async () => {
  const reply = await sandbox.call('POST', generationPath, aGeneration());

  expect(reply.body).toEqual({ task_id: expect.stringMatching(/^\d{15}$/) });
});

test('a stop cuts the connection of a request that [hang] never answers', async () => {
  const held = sandbox.call('POST', generationPath, aGeneration({ content: [{ type: 'text', text: '[hang]' }] }));
  held.catch(() => undefined);
  while (!(await sandbox.call('GET', queryPath)).text.includes('"total":1'));

  await sandbox.stop();

  await expect(held).rejects.toThrow('fetch failed');
  sandbox = await runningSandbox();
});
