import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { aRelayChannel } from '../../testing/a-relay-channel.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import { startRelayUpstream } from '../../testing/scripted-relay-upstream.ts';
import type { RelayUpstream } from '../../testing/scripted-relay-upstream.ts';
import { dialects } from '../dialects/index.ts';
import { gatewayRoutes } from '../gateway-routes.ts';

const MODEL = 'vendor/family/slash';
const SPELLINGS = [MODEL, encodeURIComponent(MODEL), 'vendor/family%2fslash'];
const POST_BODY = { contents: [{ parts: [{ text: 'hello' }] }] };

let upstream: RelayUpstream;
let under: GatewayUnderTest;
beforeAll(async () => {
  upstream = await startRelayUpstream();
  under = await startGatewayUnderTest({
    channels: [aRelayChannel({ base_url: upstream.url, models: { [MODEL]: MODEL } })],
  });
});
afterAll(async () => {
  await under.stop();
  await upstream.stop();
});

const ask = (method: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  call(under.url, method, path, { headers, ...(method === 'POST' ? { body: POST_BODY } : {}) });
const sent = (path: string): string => path.replace('{model}', encodeURIComponent(MODEL));

/** The answer of each route with a model in its path, for a model with slashes. */
const ROUTES: Readonly<Record<string, (spelled: string) => Promise<void>>> = {
  '/v1/models/{model}': async (path) => {
    const answer = await ask('GET', path);

    expect([answer.status, answer.json.id]).toEqual([200, MODEL]);
    expect((await ask('GET', path, { 'anthropic-version': '2023-06-01' })).json.type).toBe('model');
    expect((await call(under.url, 'GET', `${path}?key=${TOKEN}`, { token: null })).json.name).toBe(`models/${MODEL}`);
    expect((await call(under.url, 'GET', path, { token: null })).status).toBe(401);
  },
  '/v1beta/models/{model}': async (path) => {
    const answer = await ask('GET', path);

    expect([answer.status, answer.json.name]).toEqual([200, `models/${MODEL}`]);
  },
  '/v1/videos/models/{model}': async (path) => {
    // no channel of this gateway makes videos: the refusal tells which model was read
    const answer = await ask('GET', path);

    expect([answer.status, answer.json.error.code]).toEqual([404, 'model_not_found']);
    expect(answer.json.error.message).toContain(`"${MODEL}"`);
  },
  ...Object.fromEntries(
    ['/v1', '/v1beta'].flatMap((version) =>
      ['generateContent', 'streamGenerateContent'].map((verb) => {
        const route = `${version}/models/{model}:${verb}`;
        return [
          route,
          async (path: string) => {
            upstream.seen.length = 0;
            const [answer, wrongMethod] = [await ask('POST', path), await ask('GET', path)];

            expect([answer.status, upstream.seen.map(({ url }) => url)]).toEqual([200, [sent(route)]]);
            expect([wrongMethod.status, wrongMethod.json.error.code]).toEqual([405, 405]);
          },
        ];
      }),
    ),
  ),
};

test('every route that takes a model in its path has a row', () => {
  const paths = gatewayRoutes(dialects, {} as never, 'https://gateway.example', { hasBatches: true })
    .map(({ path }) => path)
    .filter((path) => path.includes('{model}'));

  expect([...new Set(paths)].toSorted()).toEqual(Object.keys(ROUTES).toSorted());
});

describe('a model with slashes is read, written as it is or encoded, with and without a last slash', () => {
  test.each(
    Object.entries(ROUTES).flatMap(([route, check]) => SPELLINGS.map((model) => [route, model, check] as const)),
  )('%s as %s', async (route, model, check) => {
    const path = route.replace('{model}', model);
    await check(path);
    if (route.endsWith('{model}')) await check(`${path}/`);
  });
  test.each(SPELLINGS)('behind /async as %s', async (model) => {
    upstream.seen.length = 0;
    const { status, json } = await ask('POST', `/async/v1beta/models/${model}:generateContent`);
    const read = await call(under.url, 'GET', `/get-async?id=${json.id}`, { headers: { prefer: 'wait=60' } });

    expect([status, read.json.status]).toEqual([202, 'completed']);
    expect(upstream.seen.map(({ url }) => url)).toEqual([sent('/v1beta/models/{model}:generateContent')]);
  });
  test.each([
    'vendor/other',
    'vendor',
    'vendor/family/slash/more',
    '/vendor/family/slash',
    'vendor%252Ffamily%252Fslash',
  ])('and no other one is: %s', async (model) => {
    expect((await ask('GET', `/v1/models/${model}`)).json.error.code).toBe('model_not_found');
    expect((await ask('POST', `/v1beta/models/${model}:generateContent`)).status).toBe(404);
  });
  test('an action that no route has is no model', async () => {
    const answer = await ask('POST', `/v1/models/${MODEL}:embedContent`);

    expect([answer.status, answer.json.error.status]).toEqual([404, 'NOT_FOUND']);
  });
});
