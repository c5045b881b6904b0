import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { formBody } from '../../../testing/multipart-form.ts';
import { relayEndpoints } from '../../relay/endpoints.ts';

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest();
});
afterAll(async () => {
  expect(under.tasks.calls).toEqual([]);
  await under.stop();
});

describe('an unknown path', () => {
  test.each([
    '/nowhere',
    '/v1/nowhere',
    '/v3/video_generation',
    '/v2/rerank',
    '//v2/video_generation',
    '/v1/videos/a/b/c',
    '/docs/../config',
    '/docs/package.json',
    '/metrics/x',
  ])('%s is 404 without a token', async (path) => {
    const answer = await call(under.url, 'GET', path, { token: null });

    expect(answer.status).toBe(404);
    expect(typeof answer.json.error.message).toBe('string');
  });
  test('answers in the envelope of its prefix', async () => {
    expect((await call(under.url, 'GET', '/v2/nowhere', { token: null })).json).toMatchObject({
      type: 'error',
      error: { http_code: '404' },
    });
    expect((await call(under.url, 'GET', '/v1beta/nowhere', { token: null })).json.error).toMatchObject({
      code: 404,
      status: 'NOT_FOUND',
    });
    expect((await call(under.url, 'GET', '/v1/messages/nowhere', { token: null })).json).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error' },
    });
  });
});

test.each([
  '/v1beta/models/some-model:embedContent',
  '/v1beta/models/some-model:xyz',
  '/v1/models/some-model:batchGenerateContent',
])("POST %s is an unknown action on a model: 404 in Google's envelope", async (path) => {
  const answer = await call(under.url, 'POST', path, { body: {} });

  expect([answer.status, answer.headers.allow]).toEqual([404, undefined]);
  expect(answer.json.error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
});

describe('a method that a path does not allow', () => {
  test.each([
    ['PUT', '/v1/videos', 'GET, HEAD, POST'],
    ['GET', '/v2/video_generation', 'POST'],
    ['DELETE', '/v2/h3_context_ir', 'POST'],
    ['PATCH', '/v1/videos/task_1/remix', 'POST'],
    ['POST', '/v2/query/video_generation/task_1', 'GET, HEAD'],
    ['DELETE', '/v1/models', 'GET, HEAD'],
    ['GET', '/v1/chat/completions', 'POST'],
    ['POST', '/ximg/a.mp4', 'GET, HEAD'],
  ])('%s %s is 405', async (method, path, allow) => {
    const answer = await call(under.url, method, path);

    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
    expect(answer.json.error.message).toContain(allow);
  });
});

describe('a route that is not implemented', () => {
  const ROUTES = [
    ['GET', '/v1/files'],
    ['POST', '/v1/files'],
    ['DELETE', '/v1/files/file-1'],
    ['GET', '/v1/files/file-1/content'],
    ['PUT', '/v1/files/a/b/c'],
    ['POST', '/v1/images/variations'],
    ['GET', '/v1/fine-tunes'],
    ['POST', '/v1/fine-tunes/ft-1/cancel'],
    ['GET', '/v1/fine_tuning/jobs'],
    ['POST', '/v1/fine_tuning/jobs'],
  ] as const;

  test('has the same answer to every request', async () => {
    const bodies = await Promise.all(
      ROUTES.map(async ([method, path], index) => {
        const answer = await call(under.url, method, path, method === 'GET' ? {} : { body: { index } });
        expect([answer.status, answer.headers['x-should-retry'], answer.headers['retry-after']]).toEqual([
          501,
          'false',
          undefined,
        ]);
        return answer.text;
      }),
    );

    expect(new Set(bodies).size).toBe(1);
    expect(JSON.parse(bodies[0]!)).toMatchObject({ error: { code: 'api_not_implemented' } });
  });
  test.each([
    ['GET', '/v1/responses/resp_1', 'openai'],
    ['DELETE', '/v1/responses/resp_1', 'openai'],
    ['POST', '/v1/responses/resp_1/cancel', 'openai'],
    ['GET', '/v1/responses/resp_1/input_items', 'openai'],
    ['POST', '/v1/responses/compact', 'openai'],
    ['POST', '/v1/responses/input_tokens', 'openai'],
    ['POST', '/v1/conversations', 'openai'],
    ['GET', '/v1/conversations/conv_1/items/msg_1', 'openai'],
    ['GET', '/v1/chat/completions/chatcmpl-1', 'openai'],
    ['GET', '/v1/chat/completions/chatcmpl-1/messages', 'openai'],
    ['POST', '/v1/containers', 'openai'],
    ['GET', '/v1/containers/cntr_1/files/cfile_1/content', 'openai'],
    ['POST', '/v1/vector_stores/vs_1/search', 'openai'],
    ['POST', '/v1/uploads/upload_1/parts', 'openai'],
    ['POST', '/v1/threads/thread_1/runs', 'openai'],
    ['POST', '/v1/realtime/client_secrets', 'openai'],
    ['POST', '/v1/realtime/calls/rtc_1/hangup', 'openai'],
    ['POST', '/v1/completions', 'openai'],
    ['POST', '/v1/moderations', 'openai'],
    ['POST', '/v1/batches/estimate', 'openai'],
    ['GET', '/v1/batches/estimate', 'openai'],
    ['POST', '/v1/messages/batches', 'anthropic'],
    ['GET', '/v1/messages/batches/msgbatch_1/results', 'anthropic'],
    ['POST', '/v1/skills', 'openai'],
    ['POST', '/v1beta/cachedContents', 'google'],
    ['PATCH', '/v1beta/cachedContents/a', 'google'],
    ['POST', '/upload/v1beta/files', 'google'],
    ['GET', '/v1beta/files/a', 'google'],
    ['POST', '/v1beta/interactions', 'google'],
  ])('%s %s, with an error that its clients read', async (method, path, envelope) => {
    const ask = () => call(under.url, method, path, method === 'POST' ? { body: {} } : {});
    const [first, second] = [await ask(), await ask()];
    const errors: Readonly<Record<string, object>> = {
      openai: { error: { code: 'api_not_implemented', type: 'not_implemented_error' } },
      anthropic: { type: 'error', error: { type: 'api_error' } },
      google: { error: { code: 501, status: 'UNIMPLEMENTED' } },
    };

    expect([first.status, first.headers['x-should-retry']]).toEqual([501, 'false']);
    expect(first.json).toMatchObject(errors[envelope]!);
    expect({ ...second.json, request_id: '' }).toEqual({ ...first.json, request_id: '' });
  });
  test('has no part in the routes that are', async () => {
    expect((await call(under.url, 'GET', '/v1/responses')).status).toBe(405);
    for (const path of ['/v1/responses', '/v1/responses/', '/v1/chat/completions/'])
      expect((await call(under.url, 'POST', path, { body: {} })).json.error.code).toBe('missing_model');
    expect((await call(under.url, 'POST', '/v1/messages/count_tokens', { body: {} })).status).toBe(400);
    expect((await call(under.url, 'GET', '/v1/realtime')).status).toBe(426);
    expect((await call(under.url, 'GET', '/v1beta/models')).status).toBe(200);
  });
  test('requires a token first', async () => {
    expect((await call(under.url, 'POST', '/v1/files', { token: null })).status).toBe(401);
  });
});

describe('a route of another capability', () => {
  const pathOf = (path: string): string => path.replace('{model}', 'No-Such-Model');
  const bodyOf = (takesForms: boolean): { body: unknown; headers?: Record<string, string> } =>
    takesForms
      ? {
          body: formBody('b', [{ name: 'model', content: 'No-Such-Model' }]),
          headers: { 'content-type': 'multipart/form-data; boundary=b' },
        }
      : { body: { model: 'No-Such-Model' } };

  test.each(relayEndpoints.map((endpoint) => [endpoint.path, endpoint] as const))(
    '%s refuses a model that no channel serves',
    async (path, { method, takesForms, model }) => {
      const answer = await call(
        under.url,
        method,
        `${pathOf(path)}${model === 'query' ? '?model=No-Such-Model' : ''}`,
        method === 'GET' ? {} : bodyOf(takesForms),
      );

      expect(answer.status).toBe(404);
      expect(answer.json.error.message).toContain('No-Such-Model');
    },
  );
  test.each(relayEndpoints.map((endpoint) => [endpoint.path, endpoint] as const))(
    '%s requires a token first',
    async (path, { method }) => {
      expect((await call(under.url, method, pathOf(path), { token: null })).status).toBe(401);
    },
  );
  test('a request without a model is refused', async () => {
    expect((await call(under.url, 'POST', '/v1/embeddings', { body: { input: 'x' } })).json.error).toMatchObject({
      code: 'missing_model',
      param: 'model',
    });
    expect((await call(under.url, 'POST', '/v1/chat/completions', { body: '[]' })).status).toBe(400);
  });
  test('the realtime route requires a WebSocket', async () => {
    const answer = await call(under.url, 'GET', '/v1/realtime?model=x');

    expect(answer).toMatchObject({ status: 426, json: { error: { code: 'upgrade_required' } } });
    expect(answer.headers['upgrade']).toBe('websocket');
  });
  test('the realtime route answers an upgrade without a token with 401', async () => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };

    expect((await call(under.url, 'GET', '/v1/realtime?model=x', { headers, token: null })).status).toBe(401);
  });
});

describe('the generic asynchronous route', () => {
  test.each([
    ['/async/v1/chat/completions', 'model_not_found'],
    ['/async/v1beta/models/No-Such-Model:generateContent', 'model_not_found'],
    ['/async/v1/videos', 'not_found'],
    ['/async/nowhere', 'not_found'],
    ['/async/v1/realtime', 'not_found'],
  ])('%s', async (path, code) => {
    const answer = await call(under.url, 'POST', path, { body: { model: 'No-Such-Model' } });

    expect([answer.status, answer.json.error.code]).toEqual([404, code]);
  });
  test('refuses an id that it did not create', async () => {
    expect((await call(under.url, 'GET', '/get-async?id=nope')).json.error.code).toBe('task_not_found');
    expect((await call(under.url, 'GET', '/get-async')).json.error).toMatchObject({
      code: 'invalid_request',
      param: 'id',
    });
  });
});

describe('the id of a request', () => {
  test.each(['/v1/models', '/nowhere', '/docs', '/v1/videos/edits'])('is on every answer: %s', async (path) => {
    expect((await call(under.url, 'GET', path)).headers['x-request-id']).toMatch(/^req_\w{26}$/);
  });
  test("is the client's own if it is valid", async () => {
    const name = async (id: string) =>
      (await call(under.url, 'GET', '/nowhere', { headers: { 'x-request-id': id } })).headers['x-request-id'];

    expect(await name('my-request-0001')).toBe('my-request-0001');
    expect(await name('x'.repeat(129))).toMatch(/^req_/);
    expect(await name('<script>')).toMatch(/^req_/);
  });
  test("is also in the header that Anthropic's clients read", async () => {
    const { headers } = await call(under.url, 'POST', '/v1/messages', {
      body: {},
      headers: { 'x-request-id': 'mine' },
    });

    expect(headers['request-id']).toBe('mine');
  });
});
