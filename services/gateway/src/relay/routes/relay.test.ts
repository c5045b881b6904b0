import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { call } from '../../../testing/http-call.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';
import { DELIVERED, json } from '../../../testing/scripted-relay-upstream.ts';
import { formBody } from '../../../testing/multipart-form.ts';

const relay = withRelay();
const chat = { model: 'some-model', messages: [{ role: 'user', content: 'hello' }], max_tokens: 10 };
const USAGE = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
const CHAT_ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'upstream-model-2026-01-01',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: USAGE,
};
const post = (path: string, body: unknown = chat, headers: Record<string, string> = {}) =>
  call(relay().gateway.url, 'POST', path, { body, headers });

describe('a JSON call', () => {
  test('reaches the upstream unchanged except for the model and the credential', async () => {
    relay().first.reply = json(CHAT_ANSWER);
    const answer = await post('/v1/chat/completions?beta=1', `{ "model" : "some-model",  "n":1 }`, {
      'x-stainless-lang': 'js',
      cookie: 'a=b',
      'x-forwarded-for': '10.0.0.1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'vendor=opaque',
      baggage: 'user=alice',
    });

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ ...CHAT_ANSWER, model: 'some-model' });
    expect(relay().first.seen).toMatchObject([
      {
        method: 'POST',
        url: '/v1/chat/completions?beta=1',
        headers: {
          authorization: 'Bearer upstream-secret-key',
          'x-stainless-lang': 'js',
          'accept-encoding': 'identity',
        },
      },
    ]);
    for (const name of ['cookie', 'x-forwarded-for', 'traceparent', 'tracestate', 'baggage'])
      expect(relay().first.seen[0]?.headers).not.toHaveProperty(name);
    expect(relay().first.seen[0]?.body.toString()).toBe(`{ "model" : "upstream-model-2026",  "n":1 }`);
  });
  test('has its upper bound held before it is sent, and is settled once by its usage', async () => {
    const order: string[] = [];
    relay().first.reply = (request, response) => {
      order.push(`upstream after ${relay().gateway.calls.placed.length} placed`);
      json(CHAT_ANSWER)(request, response);
    };
    await post('/v1/chat/completions');
    const { calls, settled } = relay().gateway;
    await settled(1);

    expect(order).toEqual(['upstream after 1 placed']);
    expect(calls.placed).toMatchObject([
      { accountId: 'demo', priceKeys: ['some-model__chat', 'some-model'], facts: { outputTokens: 10n } },
    ]);
    expect(calls.settled).toMatchObject([
      {
        callId: calls.placed[0]?.callId,
        basis: Basis.USAGE,
        usage: { inputTokens: 9n, outputTokens: 2n },
        channel: 'channel-one',
      },
    ]);
  });
  test.each<[string | undefined, Readonly<Record<string, string>>, string]>([
    [undefined, {}, ''],
    [undefined, { 'Reelgate-Label': 'spring' }, 'spring'],
    ['of-token', {}, 'of-token'],
    ['of-token', { 'Reelgate-Label': 'spring' }, 'spring'],
  ])('of a token with the label %s, with %j, is held under the label %j', async (ofToken, headers, expected) => {
    relay().gateway.billing.tokens.set('rg_labelled', { tokenId: 'labelled', ...(ofToken && { label: ofToken }) });
    relay().first.reply = json(CHAT_ANSWER);
    const { status } = await call(relay().gateway.url, 'POST', '/v1/chat/completions', {
      body: chat,
      headers,
      token: 'rg_labelled',
    });

    expect(status).toBe(200);
    expect(relay().gateway.calls.placed.map(({ label }) => label)).toEqual([expected]);
    expect(relay().first.seen[0]?.headers).not.toHaveProperty('reelgate-label');
  });
  test('with a malformed label is refused before money is held', async () => {
    const answer = await post('/v1/chat/completions', chat, { 'Reelgate-Label': 'two words' });

    expect([answer.status, answer.json.error.param]).toEqual([400, 'Reelgate-Label']);
    expect([relay().gateway.calls.placed, relay().first.seen]).toEqual([[], []]);
  });
  test('that billing refuses is never sent', async () => {
    relay().gateway.calls.refusal = new Problem({
      kind: 'exhausted',
      reason: 'insufficient_quota',
      message: 'the account has not enough',
    });
    const answer = await post('/v1/chat/completions');

    expect([
      answer.status,
      answer.json.error.code,
      answer.headers['x-should-retry'],
      answer.headers['retry-after'],
    ]).toEqual([429, 'insufficient_quota', 'false', undefined]);
    expect(relay().first.seen).toEqual([]);
    expect(relay().gateway.calls.settled).toEqual([]);
  });
  test('without usage is charged by its hold', async () => {
    relay().first.reply = json(DELIVERED);
    await post('/v1/chat/completions');
    await relay().gateway.settled(1);

    expect(relay().gateway.calls.settled).toMatchObject([{ basis: Basis.HOLD }]);
  });
  test('that only counts tokens is free', async () => {
    relay().first.reply = json({ input_tokens: 14 });
    const answer = await post('/v1/messages/count_tokens');

    expect(answer.json).toEqual({ input_tokens: 14 });
    expect(relay().first.seen[0]?.url).toBe('/v1/messages/count_tokens');
    expect(relay().gateway.calls.placed).toEqual([]);
  });
  test.each([64 * 1024, 3 * 1024 * 1024])(
    'with an answer of %i bytes returns it whole, and its usage is found',
    async (bytes) => {
      const long = {
        model: 'upstream-model-2026',
        data: [{ embedding: 'x'.repeat(bytes) }],
        usage: { prompt_tokens: 5, total_tokens: 5 },
      };
      relay().first.reply = json(long);
      const answer = await post('/v1/embeddings', { model: 'some-model', input: 'x' });
      await relay().gateway.settled(1);

      expect(answer.json).toEqual({ ...long, model: 'some-model' });
      expect(relay().gateway.calls.settled).toMatchObject([{ basis: Basis.USAGE, usage: { inputTokens: 5n } }]);
    },
  );
});

describe('a model in the path', () => {
  test.each([
    ['/v1beta/models/some-model:generateContent', '/v1beta/models/upstream-model-2026:generateContent'],
    ['/v1/models/some-model:generateContent?x=1', '/v1/models/upstream-model-2026:generateContent?x=1'],
    [
      '/v1beta/models/some-model:streamGenerateContent?alt=sse&key=rg_token-of-demo',
      '/v1beta/models/upstream-model-2026:streamGenerateContent?alt=sse',
    ],
    [
      '/v1beta/models/some-model:streamGenerateContent?key=rg_token-of-demo&alt=sse',
      '/v1beta/models/upstream-model-2026:streamGenerateContent?alt=sse',
    ],
    [
      '/v1beta/models/some-model:streamGenerateContent?k%65y=rg_token-of-demo&alt=s%73e',
      '/v1beta/models/upstream-model-2026:streamGenerateContent?alt=s%73e',
    ],
  ])('%s', async (path, upstream) => {
    relay().first.reply = json({
      candidates: DELIVERED.candidates,
      modelVersion: 'upstream-model-2026',
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 6 },
    });
    const body = '{"contents": [ ] }';
    const answer = await post(path, body);
    await relay().gateway.settled(1);

    expect(answer.json.modelVersion).toBe('some-model');
    expect(relay().first.seen[0]?.url).toBe(upstream);
    expect(relay().first.seen[0]?.body.toString()).toBe(body);
    expect(relay().gateway.calls.settled).toMatchObject([
      { basis: Basis.USAGE, usage: { inputTokens: 4n, outputTokens: 6n } },
    ]);
  });
});

describe('the token', () => {
  test.each([['x-api-key'], ['x-goog-api-key']])('can be sent as %s, and is not passed on', async (name) => {
    const answer = await call(relay().gateway.url, 'POST', '/v1/messages', {
      body: chat,
      token: null,
      headers: { [name]: 'rg_token-of-demo' },
    });

    expect(answer.status).toBe(200);
    expect(JSON.stringify(relay().first.seen[0]?.headers)).not.toContain('rg_token-of-demo');
  });
  test("can be sent in the query of Google's routes, and of no other", async () => {
    const status = async (path: string) =>
      (await call(relay().gateway.url, 'POST', path, { body: chat, token: null })).status;

    expect(await status('/v1beta/models/some-model:generateContent?key=rg_token-of-demo')).toBe(200);
    expect(await status('/v1/chat/completions?key=rg_token-of-demo')).toBe(401);
  });
});

describe('a form', () => {
  const form = (model: string): Buffer =>
    formBody('bb', [
      { name: 'file', content: Buffer.from([0, 255, 13, 10, 45, 45]), fileName: 'a.wav', type: 'audio/wav' },
      { name: 'model', content: model },
    ]);
  const headers = { 'content-type': 'multipart/form-data; boundary=bb' };

  test.each(['/v1/audio/transcriptions', '/v1/audio/translations', '/v1/images/edits'])(
    '%s: is passed on byte for byte except for the model',
    async (path) => {
      relay().first.reply = json({ text: 'hi', usage: { type: 'duration', seconds: 3 }, data: DELIVERED.data });
      const answer = await post(path, form('some-model'), headers);
      await relay().gateway.settled(1);

      expect(answer.status).toBe(200);
      expect(relay().first.seen[0]?.headers['content-type']).toBe(headers['content-type']);
      expect(relay().first.seen[0]?.body.equals(form('upstream-model-2026'))).toBe(true);
      expect(relay().gateway.calls.settled).toMatchObject([{ basis: Basis.USAGE }]);
    },
  );
  test.each([
    ['no boundary', { 'content-type': 'multipart/form-data' }, form('some-model'), 'invalid_request'],
    ['no part', headers, Buffer.from('hello'), 'invalid_request'],
    ['no model', headers, formBody('bb', [{ name: 'n', content: '1' }]), 'missing_model'],
  ])('with %s is refused', async (_, more, body, code) => {
    const answer = await post('/v1/audio/transcriptions', body, more);

    expect([answer.status, answer.json.error.code]).toEqual([400, code]);
    expect(relay().gateway.calls.placed).toEqual([]);
  });
});

test.each(['{"model":"some-model","Model":"dear-model"}', '{"MODEL":"dear-model","model":"some-model"}'])(
  'a second model in another case is refused, because some upstreams would use it: %s',
  async (body) => {
    const answer = await post('/v1/chat/completions', body);

    expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid_request']);
    expect(relay().first.seen).toEqual([]);
  },
);

test('bytes are returned unchanged and charged by the characters', async () => {
  const sound = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
  relay().first.reply = (_request, response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': sound.length }).end(sound);
  };
  const response = await fetch(`${relay().gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: 'Bearer rg_token-of-demo', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'some-model', input: 'ünï' }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  await relay().gateway.settled(1);

  expect([response.headers.get('content-type'), response.headers.get('content-length')]).toEqual([
    'audio/mpeg',
    '300000',
  ]);
  expect(bytes.equals(sound)).toBe(true);
  expect(relay().gateway.calls.placed).toMatchObject([{ facts: { characters: 3n } }]);
  expect(relay().gateway.calls.settled).toMatchObject([{ basis: Basis.USAGE, usage: { characters: 3n } }]);
});

describe('a model without a channel at the endpoint is 404 in the envelope of the route; no upstream is called', () => {
  test.each([
    ['/v1/chat/completions', (body: { error: object }) => body.error, { code: 'model_not_found', param: 'model' }],
    ['/v1/messages', (body: { error: object }) => body, { type: 'error', error: { type: 'not_found_error' } }],
    [
      '/v1beta/models/unknown:generateContent',
      (body: { error: object }) => body.error,
      { code: 404, status: 'NOT_FOUND' },
    ],
    [
      '/v1/models/unknown:streamGenerateContent?alt=sse',
      (body: { error: object }) => body.error,
      { code: 404, status: 'NOT_FOUND' },
    ],
  ])('%s', async (path, part, expected) => {
    const answer = await post(path, { ...chat, model: 'unknown', stream: true });

    expect([answer.status, answer.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
    expect(part(answer.json)).toMatchObject(expected);
    expect(relay().gateway.calls.placed).toEqual([]);
  });
  test('even if the token may not use it', async () => {
    relay().gateway.billing.tokens.set('rg_narrow-token', { models: ['Alpha-H3'] });

    expect(
      (await call(relay().gateway.url, 'POST', '/v1/chat/completions', { body: chat, token: 'rg_narrow-token' })).json
        .error.code,
    ).toBe('model_not_found');
    expect(relay().first.seen).toEqual([]);
  });
});

test('settlements that billing does not accept are sent again', async () => {
  relay().first.reply = json(CHAT_ANSWER);
  relay().gateway.calls.settleFaults = 2;
  await post('/v1/chat/completions');
  for (let pause = 0; pause < 30 && relay().gateway.calls.settled.length === 0; pause += 1)
    await relay().gateway.clock.advance(1000);

  expect(relay().gateway.calls.settled).toMatchObject([{ basis: Basis.USAGE }]);
});
