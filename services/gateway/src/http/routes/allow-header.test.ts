import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { relayEndpoints } from '../../relay/endpoints.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const WORDS = ['edits', 'extensions', 'characters', 'estimate', 'task_1', 'EDITS', '%65dits', 'edits2'];
const SUFFIXES = ['', '/', '/content', '/cancel', '/remix', '/unknown', '/content/more'];
const MODELS = [
  'gem',
  'gem:generateContent',
  'gem:streamGenerateContent',
  'gem:embedContent',
  'gem:xyz',
  'tuned:gem:one',
  'gem/more',
  '',
];

const PATHS = [
  ...WORDS.flatMap((word) => SUFFIXES.map((suffix) => `/v1/videos/${word}${suffix}`)),
  ...['/v1', '/v1beta'].flatMap((prefix) =>
    ['', ...MODELS.map((model) => `/${model}`)].map((model) => `${prefix}/models${model}`),
  ),
  ...['/v1/video/generations', '/v2/query/video_generation', '/v2/video_generation', '/api/v1/videos'].flatMap(
    (path) => [path, `${path}/`, `${path}/task_1`, `${path}/edits`, `${path}/task_1/content`],
  ),
  '/v1/videos',
  '/v2/video_regeneration',
  '/v2/h3_context_ir',
  '/v1/usage',
  '/v1/realtime',
  '/get-async',
  '/async',
  '/async/',
  '/async/v1/chat/completions',
  '/ximg',
  '/ximg/a.mp4',
  '/ximg/a/b.mp4',
  '/docs',
  '/docs/',
  '/docs/start.js',
  '/docs/nothing',
  '/openapi.json',
  '/callbacks/token',
  '/callbacks',
  '/',
  '/nowhere',
  '/v1',
  '/v2',
  '/v1beta',
  '/v1/files',
  '/v1/files/file-1',
  '/v1/images/variations',
  '/v1/images/other',
  '/v1/fine_tuning/jobs',
  '/v1/fine-tunes',
  ...relayEndpoints.map(({ path }) => path.replace('{model}', 'gem')),
];

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest();
});
afterAll(() => under.stop());

const ask = (method: string, path: string) =>
  call(under.url, method, path, method === 'GET' || method === 'HEAD' ? {} : { body: {} });

describe('Allow names exactly the methods of a path', () => {
  test.each([...new Set(PATHS)])('%s', async (path) => {
    const answers = await Promise.all(METHODS.map(async (method) => ({ method, ...(await ask(method, path)) })));
    const refused = answers.filter(({ status }) => status === 405);
    const taken = answers.filter(({ status }) => status !== 405);

    for (const { headers } of refused)
      expect(headers.allow?.split(', ').filter((method) => METHODS.includes(method))).toEqual(
        taken.map(({ method }) => method).toSorted(),
      );
    for (const { method, headers } of taken) expect([method, headers.allow]).toEqual([method, undefined]);
    // an allowed method never gets the refusal for a method that is not allowed
    expect(refused).not.toHaveLength(METHODS.length);
  });
});

describe('a reserved word in place of a task id', () => {
  test.each(
    ['edits', 'extensions', 'characters'].flatMap((word) =>
      ['', '/content', '/remix', '/cancel'].map((suffix) => `/v1/videos/${word}${suffix}`),
    ),
  )('%s is 404 with any method', async (path) => {
    for (const method of METHODS.filter((name) => name !== 'HEAD')) {
      const answer = await ask(method, path);

      expect([method, answer.status, answer.json.error.code, answer.headers.allow]).toEqual([
        method,
        404,
        'not_found',
        undefined,
      ]);
    }
  });
  test('estimate takes only POST', async () => {
    const answer = await ask('DELETE', '/v1/videos/estimate');

    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
    expect((await ask('GET', '/v1/videos/estimate')).status).toBe(405);
    expect((await ask('GET', '/v1/videos/estimate/content')).json.error.code).toBe('not_found');
  });
});
