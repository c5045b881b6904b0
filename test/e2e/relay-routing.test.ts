import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { httpCaller } from '../harness/client.ts';
import type { Answer, HttpCaller } from '../harness/client.ts';
import { RELAY_MODELS, SWITCHED_OFF } from '../harness/relay-config.ts';
import { startRelayProgram } from '../harness/relay-program.ts';
import type { RelayProgram } from '../harness/relay-program.ts';
import { NEVER_SEEN, RELAY_KEYS, UPSTREAM_MODELS, USEFUL_HEADER } from '../harness/relay-upstream/identities.ts';
import { KEYS } from '../harness/test-config.ts';
import { anthropicClient } from './relay-calls/anthropic-calls.ts';
import { googleClient } from './relay-calls/google-calls.ts';
import { openaiClient } from './relay-calls/openai-calls.ts';
import type { Target } from './relay-calls/sdk-call.ts';

const START_TIMEOUT_MS = 120_000;

let relay: RelayProgram;
let demo: HttpCaller;
let narrow: HttpCaller;
let marks = 0;

beforeAll(async () => {
  relay = await startRelayProgram();
  demo = httpCaller(relay.program.base, KEYS.demo);
  narrow = httpCaller(relay.program.base, KEYS.narrow);
}, START_TIMEOUT_MS);

afterAll(async () => {
  await relay?.end();
}, START_TIMEOUT_MS);

const target = (model: string): Target => ({ base: relay.program.base, key: KEYS.demo, model });
const newMark = (): string => `routing-${(marks += 1)}`;
const chat = (model: string, text: string, over: object = {}) => ({
  model,
  messages: [{ role: 'user', content: text }],
  ...over,
});
const leaks = (answer: Answer): readonly string[] =>
  NEVER_SEEN.filter((secret) => answer.text.includes(secret) || JSON.stringify([...answer.headers]).includes(secret));

const OPENAI = { error: { code: 'model_not_found', type: 'invalid_request_error', message: expect.any(String) } };
const ANTHROPIC = { type: 'error', error: { type: 'not_found_error', message: expect.any(String) } };
const GOOGLE = { error: { code: 404, status: 'NOT_FOUND', message: expect.any(String) } };

describe('a model that cannot be used is 404 in the envelope of the route, and no upstream is called', () => {
  const routes: readonly (readonly [string, (model: string) => readonly [string, object], object])[] = [
    ['chat', (model) => ['/v1/chat/completions', chat(model, 'x')], OPENAI],
    ['a chat stream', (model) => ['/v1/chat/completions', chat(model, 'x', { stream: true })], OPENAI],
    ['responses', (model) => ['/v1/responses', { model, input: 'x' }], OPENAI],
    ['messages', (model) => ['/v1/messages', chat(model, 'x', { max_tokens: 5 })], ANTHROPIC],
    ['a stream of messages', (model) => ['/v1/messages', chat(model, 'x', { max_tokens: 5, stream: true })], ANTHROPIC],
    ['tokens of messages', (model) => ['/v1/messages/count_tokens', chat(model, 'x')], ANTHROPIC],
    ['content', (model) => [`/v1beta/models/${model}:generateContent`, { contents: [] }], GOOGLE],
    [
      'a stream of content',
      (model) => [`/v1beta/models/${model}:streamGenerateContent?alt=sse`, { contents: [] }],
      GOOGLE,
    ],
    ['content as SDKs spell it', (model) => [`/v1/models/${model}:generateContent`, { contents: [] }], GOOGLE],
    ['embeddings', (model) => ['/v1/embeddings', { model, input: 'x' }], OPENAI],
    ['rerank', (model) => ['/v1/rerank', { model, query: 'x', documents: ['y'] }], OPENAI],
    ['images', (model) => ['/v1/images/generations', { model, prompt: 'x' }], OPENAI],
    [
      'edits of images',
      (model) => ['/v1/images/edits', { model, prompt: 'x', image: 'data:image/png;base64,AAAA' }],
      OPENAI,
    ],
    ['speech', (model) => ['/v1/audio/speech', { model, input: 'x', voice: 'y' }], OPENAI],
  ];
  test.each(routes)('%s', async (_name, request, body) => {
    const before = relay.upstream.calls.length;
    const [path, json] = request('twice');
    const hidden = await narrow.call('POST', path, json);
    const unknown = await demo.call('POST', ...request('no-such-model'));
    const off = await demo.call('POST', ...request(SWITCHED_OFF));

    for (const answer of [hidden, unknown, off]) {
      expect(answer).toMatchObject({ status: 404, json: body });
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    }
    expect(relay.upstream.calls).toHaveLength(before);
  });

  test('a model whose channel does not have the endpoint is 404', async () => {
    expect((await demo.call('POST', '/v1/chat/completions', chat('chat-only', 'x'))).status).toBe(200);
    expect(await demo.call('POST', '/v1/embeddings', { model: 'chat-only', input: 'x' })).toMatchObject({
      status: 404,
      json: OPENAI,
    });
  });
});

describe('the money is checked before the upstream is called', () => {
  test.each([
    ['a model without a price', KEYS.demo, 'unpriced', 400, 'model_price_error'],
    ['an account without money', KEYS.poor, 'solo', 429, 'insufficient_quota'],
  ])('%s', async (_name, key, model, status, code) => {
    const before = relay.upstream.calls.length;
    const answer = await httpCaller(relay.program.base, key).call('POST', '/v1/chat/completions', chat(model, 'x'));

    expect(answer).toMatchObject({ status, json: { error: { code } } });
    expect(relay.upstream.calls).toHaveLength(before);
  });
});

describe('a route that is not implemented is answered so that no SDK repeats the call', () => {
  test.each<[string, (client: ReturnType<typeof openaiClient>) => Promise<unknown>]>([
    ['files', (client) => client.files.list()],
    ['a file', (client) => client.files.retrieve('file-1')],
    ['variations of images', (client) => client.images.createVariation({ image: new File(['x'], 'x.png') })],
    ['fine-tuning', (client) => client.fineTuning.jobs.list()],
    ['old fine-tunes', (client) => client.get('/fine-tunes')],
  ])('%s', async (_name, run) => {
    let asked = 0;
    const counted: typeof fetch = (...request) => {
      // The SDK tries this function with a data URL first.
      if (typeof request[0] !== 'string' || request[0].startsWith('http')) asked += 1;
      return fetch(...request);
    };
    const client = openaiClient(target('solo'), { maxRetries: 2, fetch: counted });

    await expect(run(client)).rejects.toMatchObject({ status: 501, code: 'api_not_implemented' });
    expect(asked).toBe(1);
  });
});

describe("the site token is accepted in every header, and the upstream gets the channel's credential", () => {
  test.each<[string, string, Record<string, string>, string, object]>([
    ['x-api-key', '/v1/messages', { 'x-api-key': KEYS.demo }, 'claude', { 'x-api-key': RELAY_KEYS['anthropic'] }],
    [
      'x-goog-api-key',
      '/v1beta/models/gemini:generateContent',
      { 'x-goog-api-key': KEYS.demo },
      'gemini',
      { 'x-goog-api-key': RELAY_KEYS['google'] },
    ],
    [
      'bearer',
      '/v1/chat/completions',
      { authorization: `Bearer ${KEYS.demo}` },
      'slashed',
      { authorization: `Bearer ${RELAY_KEYS['slash']!}` },
    ],
  ])('%s', async (_name, path, headers, model, expected) => {
    const mark = newMark();
    const answer = await httpCaller(relay.program.base, undefined).call(
      'POST',
      path,
      path.includes(':')
        ? { contents: [{ parts: [{ text: `[mark:${mark}]` }] }] }
        : chat(model, `[mark:${mark}]`, { max_tokens: 5 }),
      headers,
    );

    expect(answer.status).toBe(200);
    const [asked] = relay.upstream.marked(mark);
    expect(asked!.headers).toMatchObject(expected);
    expect(asked!.rawHeaders.join(' ')).not.toContain(KEYS.demo);
    expect(asked!.path).toBe(model === 'slashed' ? path : path.replace('gemini', UPSTREAM_MODELS.google));
    expect(leaks(answer)).toEqual([]);
  });
});

describe('the next channel', () => {
  test.each([401, 402, 403, 429, 500, 502, 503, 529])('is tried after a %d, with a body of its own', async (status) => {
    const mark = newMark();
    const answer = await demo.call(
      'POST',
      '/v1/chat/completions',
      chat('twice', `[mark:${mark}][main/status:${status}]`),
    );
    await demo.call('POST', '/v1/chat/completions', chat('solo', 'mends the count of faults'));

    expect(answer).toMatchObject({ status: 200, json: { model: 'twice' } });
    expect(relay.upstream.marked(mark).map(({ channel, model }) => [channel, model])).toEqual([
      ['main', UPSTREAM_MODELS.main],
      ['spare', UPSTREAM_MODELS.spare],
    ]);
    expect(leaks(answer)).toEqual([]);
  });

  test('is tried if the connection is refused', async () => {
    const mark = newMark();

    expect((await demo.call('POST', '/v1/chat/completions', chat('reached', `[mark:${mark}]`))).status).toBe(200);
    expect(relay.upstream.marked(mark)).toHaveLength(1);
  });

  test('is tried for a stream, before its first byte', async () => {
    const mark = newMark();
    const answer = await demo.call(
      'POST',
      '/v1/chat/completions',
      chat('twice', `[mark:${mark}][main/status:500]`, { stream: true }),
    );

    expect(answer.status).toBe(200);
    expect(answer.text).toContain('data: [DONE]');
    expect(relay.upstream.marked(mark)).toHaveLength(2);
  });

  test.each([
    ['a request that is at fault', '[main/status:400]', 400],
    ['an answer that was lost', '[main/reset]', 502],
    ['an answer that broke off', '[main/die:1]', 502],
  ])('is not tried after %s', async (_name, words, status) => {
    const mark = newMark();
    const answer = await demo.call('POST', '/v1/chat/completions', chat('twice', `[mark:${mark}]${words}`));
    await demo.call('POST', '/v1/chat/completions', chat('solo', 'mends the count of faults'));

    expect(answer.status).toBe(status);
    expect(relay.upstream.marked(mark)).toHaveLength(1);
    if (status === 502) expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(leaks(answer)).toEqual([]);
  });

  test('does not exist, and the only channel is at its limit: the answer says so', async () => {
    const statuses = [];
    for (let call = 0; call < 3; call += 1)
      statuses.push((await demo.call('POST', '/v1/chat/completions', chat('limited', 'x'))).status);
    const answer = await demo.call('POST', '/v1/chat/completions', chat('limited', 'x'));

    expect(statuses).toEqual([200, 200, 429]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('the answer of an upstream', () => {
  test.each([
    ['a model of another name', 'solo', {}],
    ['the same name', 'same', {}],
    ['a stream', 'solo', { stream: true }],
  ])("has the upstream's useful headers and none of its identities: %s", async (_name, model, over) => {
    const answer = await demo.call('POST', '/v1/chat/completions', chat(model, 'x', over), {
      'x-request-id': 'mine-1',
    });

    expect(answer.headers.get(USEFUL_HEADER.name)).toBe(USEFUL_HEADER.value);
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBeNull();
    expect(leaks(answer)).toEqual([]);
  });

  test("is not changed where its text resembles the model's name", async () => {
    const text = `"model":"${UPSTREAM_MODELS.main}"`;
    const mark = newMark();
    await demo.call('POST', '/v1/chat/completions', chat('solo', `${text} [mark:${mark}]`));

    expect(relay.upstream.marked(mark)[0]!.json.messages[0].content).toContain(text);
  });

  test('is not passed on if it is an HTML page', async () => {
    const answer = await demo.call('POST', '/v1/chat/completions', chat('broken', '[status:502][html]'));

    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(answer.json).toMatchObject({ error: { message: expect.any(String) } });
    expect(leaks(answer)).toEqual([]);
  });
});

describe('the list of models', () => {
  test('has the models that the token sees and an enabled channel has', async () => {
    const seen = (await openaiClient(target('solo')).models.list()).data.map(({ id }) => id);
    expect(seen).toEqual(expect.arrayContaining([...RELAY_MODELS, 'Alpha-H3']));
    expect(seen).not.toContain(SWITCHED_OFF);

    const few = (await openaiClient({ ...target('solo'), key: KEYS.narrow }).models.list()).data.map(({ id }) => id);
    expect(few.toSorted()).toEqual(['Beta-V1', 'solo']);
  });

  test('can be read by the SDKs as a list and one by one', async () => {
    expect(await openaiClient(target('solo')).models.retrieve('solo')).toMatchObject({ id: 'solo', object: 'model' });
    await expect(openaiClient({ ...target('solo'), key: KEYS.narrow }).models.retrieve('twice')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    expect((await anthropicClient(target('solo')).models.list()).data.map(({ id }) => id)).toContain('solo');
  });
});

test("paths of other APIs are not mistaken for the gateway's: /v2/rerank and embedding by Google's path", async () => {
  expect((await demo.call('POST', '/v2/rerank', { model: 'solo', query: 'x', documents: [] })).status).toBe(404);
  // An unknown verb of a model is 404, although the model's own path exists.
  await expect(
    googleClient(target('gemini')).models.embedContent({ model: 'gemini', contents: 'x' }),
  ).rejects.toMatchObject({ status: 404 });
});

// the last one: its channels rest afterwards
describe('a channel whose upstream asks to wait', () => {
  test('is the last one: its answer has the time to retry, and no call is sent before', async () => {
    const answer = await demo.call('POST', '/v1/chat/completions', chat('twice', '[status:429][retry-after:7]'));

    expect(answer).toMatchObject({
      status: 429,
      json: { error: { message: expect.stringContaining('Upstream trouble with twice') } },
    });
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(leaks(answer)).toEqual([]);
    const mark = newMark();
    const next = await demo.call('POST', '/v1/chat/completions', chat('twice', `[mark:${mark}]`));
    expect([next.status, Number(next.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(relay.upstream.marked(mark)).toEqual([]);
  });
});
