import { describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { call } from '../../../testing/http-call.ts';
import { openStream } from '../../../testing/open-stream.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';
import type { Reply } from '../../../testing/scripted-relay-upstream.ts';
import { DELIVERED, json } from '../../../testing/scripted-relay-upstream.ts';
import { relayEndpoints } from '../endpoints.ts';
import { listRouteErrors, named, sse, toPath } from '../../../testing/relay-error-cases.ts';
import type { ErrorCase } from '../../../testing/relay-error-cases.ts';

const relay = withRelay({ timeouts: { first_byte: '5s', idle: '5s' } });
const UPSTREAM_ERROR = 'upstream-model-2026 of org-AbCdEf123 broke off';
const ROWS = listRouteErrors(UPSTREAM_ERROR);

const reply =
  (type: string, body: string, encoding?: string): Reply =>
  (_request, response) => {
    const headers = { ...(type && { 'content-type': type }), ...(encoding && { 'content-encoding': encoding }) };
    response.writeHead(200, headers).end(body);
  };
const toReply = ({ type = 'application/json', body, encoding }: ErrorCase): Reply =>
  reply(type, typeof body === 'string' ? body : JSON.stringify(body), encoding);
const post = (path: string, body: object) => call(relay().gateway.url, 'POST', path, { body });
const settled = async () => {
  await relay().gateway.settled(1);
  return relay().gateway.calls.settled;
};

test('every endpoint has its forms of errors in the table', () => {
  expect(Object.keys(ROWS).toSorted()).toEqual(relayEndpoints.map(({ path }) => path).toSorted());
});

describe.each(Object.entries(ROWS))('an error with the status 200 at %s', (template, { request, errors }) => {
  const path = toPath(template);
  const isFree = relayEndpoints.find((one) => one.path === template)?.isFree === true;

  test.each(Object.entries(errors))('that is %s leads to the next channel', async (_form, error) => {
    relay().first.reply = toReply(error);
    relay().second.reply = json(DELIVERED);
    const answer = await post(path, request(error));

    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, DELIVERED]);
    expect([relay().first.seen.length, relay().second.seen.length]).toEqual([1, 1]);
    if (!isFree) expect(await settled()).toMatchObject([{ channel: 'channel-two' }]);
  });
  test.each(Object.entries(errors))(
    'that is %s costs nothing, and has the status of an error',
    async (_form, error) => {
      for (const upstream of relay().upstreams) upstream.reply = toReply(error);
      const answer = await post(path, request(error));

      expect([answer.status, answer.headers['x-should-retry']]).toEqual([error.status ?? 502, 'true']);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      expect(answer.json.error.message).toEqual(expect.any(String));
      expect(answer.text).not.toMatch(/upstream-model|AbCdEf/);
      if (!isFree) expect((await settled()).map(({ basis }) => basis)).toEqual([Basis.RELEASED]);
    },
  );
});

describe('an error after a part of the answer', () => {
  const part = (content: string): string => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;
  const chat = { model: 'some-model', messages: [{ role: 'user', content: 'hello there' }], stream: true };
  const TEXT = 'x'.repeat(400);
  const FORMS: Readonly<Record<string, [string, string]>> = {
    'an error event': ['data: {"error":{"code":502,"message":"lost"}}\n\ndata: [DONE]\n\n', '"lost"'],
    'a finish by an error': ['data: {"choices":[{"delta":{},"finish_reason":"error"}]}\n\n', '"finish_reason":"error"'],
    'a finish by an error of the network': [
      'data: {"choices":[{"delta":{},"finish_reason":"network_error"}],"usage":{"prompt_tokens":3}}\n\n',
      '"network_error"',
    ],
    'a finish by a lack of time': ['data: {"choices":[{"delta":{},"finish_reason":"TIMEOUT"}]}\n\n', '"TIMEOUT"'],
    'a code beside a message': [sse({ code: 'InternalError', message: 'lost' }) + sse('[DONE]'), '"lost"'],
    'a list of errors': [sse({ errors: [{ message: 'lost' }] }) + sse('[DONE]'), '"lost"'],
    'a number of MiniMax': [sse({ base_resp: { status_code: 1000, status_msg: 'lost' } }) + sse('[DONE]'), '"lost"'],
    'an end without its word': ['', 'ended its answer before it was complete'],
    'half an event': ['data: {"choices":[{"del', 'ended its answer before it was complete'],
  };
  test.each(Object.entries(FORMS))('%s costs what was delivered', async (_form, [rest, told]) => {
    relay().first.reply = reply('text/event-stream', part(TEXT) + rest);
    const { text, wasWhole } = await (await openStream(relay().gateway.url, '/v1/chat/completions', chat)).ended;

    expect([text.startsWith(part(TEXT)), text.includes(told), wasWhole]).toEqual([true, true, true]);
    expect(relay().second.seen).toEqual([]);
    expect(await settled()).toMatchObject([{ basis: Basis.ESTIMATE, usage: { outputTokens: 100n } }]);
  });
  test('costs no more than the same answer over a connection that breaks', async () => {
    const charges = [];
    // a good call ends the row of faults that the tests before have made
    relay().first.reply = json(DELIVERED);
    await post('/v1/chat/completions', { ...chat, stream: false });
    for (const end of ['destroy', 'end'] as const) {
      relay().first.reply = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(part(TEXT));
        setTimeout(() => response[end](), 20);
      };
      await (
        await openStream(relay().gateway.url, '/v1/chat/completions', chat)
      ).ended;
      await relay().gateway.settled(charges.length + 2);
      charges.push(relay().gateway.calls.settled.at(-1));
    }

    expect({ ...charges[0], callId: '' }).toEqual({ ...charges[1], callId: '' });
  });
  test('that an upstream blames on the request blames no channel', async () => {
    for (let time = 0; time < 6; time += 1) {
      relay().first.reply = reply('text/event-stream', `${part('x')}data: {"error":{"code":400,"message":"no"}}\n\n`);
      await (
        await openStream(relay().gateway.url, '/v1/chat/completions', chat)
      ).ended;
    }
    relay().first.reply = json(DELIVERED);
    await post('/v1/chat/completions', { ...chat, stream: false });

    expect(relay().second.seen).toEqual([]);
  });
});

test('five errors with a good status open the circuit of the channel', async () => {
  relay().first.reply = json({ error: { code: 502, message: 'lost' } });
  for (let time = 0; time < 6; time += 1) await post('/v1/chat/completions', { model: 'some-model', messages: [] });

  expect([relay().first.seen.length, relay().second.seen.length]).toEqual([5, 6]);
});

test('an error without a frame after a part of the answer hides the upstream', async () => {
  const part = sse({ choices: [{ delta: { content: 'x' } }] });
  relay().first.reply = reply('text/event-stream', part + sse({ code: 'InternalError', message: UPSTREAM_ERROR }));
  const { text } = await (
    await openStream(relay().gateway.url, '/v1/chat/completions', { model: 'some-model', messages: [], stream: true })
  ).ended;

  expect(text).toContain('broke off');
  expect(text).not.toMatch(/upstream-model|AbCdEf/);
});

test.each([
  ['DashScope', { code: 'DataInspectionFailed', message: 'the input may be inappropriate' }],
  ['MiniMax', { choices: null, base_resp: { status_code: 1026, status_msg: 'input new_sensitive' } }],
])('content that %s refuses with a good status is shown at once, and blames no channel', async (_vendor, body) => {
  relay().first.reply = json(body);
  for (let time = 0; time < 6; time += 1)
    expect(await post('/v1/chat/completions', { model: 'some-model', messages: [] })).toMatchObject({ status: 400 });

  expect([relay().first.seen.length, relay().second.seen.length]).toEqual([6, 0]);
});

test.each<[string, object, object, object]>([
  ['a total alone', {}, { total_tokens: 60 }, { inputTokens: 10n, outputTokens: 50n }],
  ['the output alone', {}, { completion_tokens: 60 }, { outputTokens: 60n }],
  ['a total alone in a stream', { stream: true }, { total_tokens: 60 }, { inputTokens: 10n, outputTokens: 50n }],
])('%s is split by what was delivered', async (_what, more, usage, charged) => {
  const content = 'x'.repeat(200);
  const chunks = [{ choices: [{ delta: { content }, finish_reason: 'stop' }] }, { choices: [], usage }];
  relay().first.reply =
    'stream' in more
      ? reply('text/event-stream', chunks.map(sse).join('') + sse('[DONE]'))
      : json({ choices: [{ message: { content }, finish_reason: 'stop' }], usage });
  await post('/v1/chat/completions', { model: 'some-model', messages: [], ...more });

  expect(await settled()).toMatchObject([{ basis: Basis.ESTIMATE, usage: charged }]);
});

test("an error of the client's own is shown at once, and is not repeated", async () => {
  const error = { message: 'the prompt was flagged', type: 'invalid_request_error', code: 'content_policy_violation' };
  relay().first.reply = json({ error });
  const answer = await post('/v1/chat/completions', { model: 'some-model', messages: [] });

  expect([answer.status, answer.headers['x-should-retry'], answer.json]).toEqual([400, 'false', { error }]);
  expect(relay().second.seen).toEqual([]);
  expect(await settled()).toMatchObject([{ basis: Basis.RELEASED }]);
});

describe('an answer in which the model refuses is an answer, and costs what the upstream reports', () => {
  const anthropic = { type: 'message', content: [], stop_reason: 'refusal' };
  const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
  const filtered = { choices: [{ message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' }] };
  const GOOGLE = '/v1beta/models/some-model:generateContent';
  test.each<[string, object, object, object]>([
    [
      '/v1/messages',
      anthropic,
      { usage: { input_tokens: 9, output_tokens: 2 } },
      { inputTokens: 9n, outputTokens: 2n },
    ],
    [GOOGLE, blocked, { usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } }, { inputTokens: 9n }],
    [
      '/v1/chat/completions',
      filtered,
      { usage: { prompt_tokens: 9, completion_tokens: 0 } },
      { inputTokens: 9n, outputTokens: 0n },
    ],
    [
      '/v1/responses',
      { status: 'incomplete', output: [] },
      { usage: { input_tokens: 9, output_tokens: 2 } },
      { inputTokens: 9n, outputTokens: 2n },
    ],
  ])('%s', async (path, refusal, usage, charged) => {
    relay().first.reply = json({ ...refusal, ...usage });
    expect((await post(path, { model: 'some-model', max_tokens: 9 })).json).toEqual({ ...refusal, ...usage });
    relay().first.reply = json(refusal);
    expect((await post(path, { model: 'some-model', max_tokens: 9 })).json).toEqual(refusal);

    await relay().gateway.settled(2);
    expect(relay().gateway.calls.settled).toMatchObject([
      { basis: Basis.USAGE, usage: charged },
      { basis: Basis.RELEASED },
    ]);
    expect(relay().second.seen).toEqual([]);
  });
  test('also as a stream', async () => {
    relay().first.reply = reply(
      'text/event-stream',
      named('message_start', { message: { content: [], usage: { input_tokens: 9, output_tokens: 1 } } }) +
        named('message_delta', { delta: { stop_reason: 'refusal' }, usage: { output_tokens: 2 } }) +
        named('message_stop', {}),
    );
    const { text } = await (
      await openStream(relay().gateway.url, '/v1/messages', { model: 'some-model', max_tokens: 9, stream: true })
    ).ended;

    expect(text).toContain('message_stop');
    expect(await settled()).toMatchObject([{ basis: Basis.USAGE, usage: { inputTokens: 9n, outputTokens: 2n } }]);
  });
});

describe('the beginning of a stream', () => {
  const stream = { model: 'some-model', messages: [], stream: true };
  const role = 'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n';
  test('is kept back until something was delivered, and then leaves whole', async () => {
    let upstream: Parameters<Reply>[1] | undefined;
    relay().first.reply = (_request, response) => {
      upstream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      upstream.write(`: UP\n\n${role}`);
    };
    const opening = openStream(relay().gateway.url, '/v1/chat/completions', stream);
    await until(() => upstream !== undefined);
    upstream?.end(sse({ choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] }) + sse('[DONE]'));
    const { text } = await (await opening).ended;

    expect(text.startsWith(`: UP\n\n${role}data: `)).toBe(true);
  });
  test.each([
    ['an upstream that only keeps the connection open', ': UP\n\n', 10],
    ['a silent one', '', 15],
  ])('of %s leaves after a time', async (_what, comment, seconds) => {
    let upstream: Parameters<Reply>[1] | undefined;
    relay().first.reply = (_request, response) => {
      upstream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      upstream.write(': UP\n\n');
    };
    let open: Awaited<ReturnType<typeof openStream>> | undefined;
    const opening = openStream(relay().gateway.url, '/v1/chat/completions', stream).then((opened) => (open = opened));
    let passed = 0;
    await until(() => upstream !== undefined);
    await until(async () => {
      await relay().gateway.clock.advance(1000);
      passed += 1;
      upstream?.write(comment);
      return open !== undefined;
    });
    expect(passed).toBeGreaterThanOrEqual(seconds);
    upstream?.end(sse({ error: { code: 502, message: 'lost' } }));

    expect((await (await opening).ended).text).toMatch(/: UP[^]*"lost"/);
    expect(relay().second.seen).toEqual([]);
    expect(await settled()).toMatchObject([{ basis: Basis.RELEASED }]);
  });
});

describe('an answer that is too long to be held', () => {
  const padding = 'y'.repeat(1_500_000);
  const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
  const vectors = (embedding: unknown) => ({ data: [{ embedding }], padding, usage });
  test.each<[string, string, object, Basis]>([
    ['with a text', '/v1/chat/completions', { choices: [{ message: { content: padding } }], usage }, Basis.USAGE],
    ['with a text behind', '/v1/chat/completions', { padding, choices: [{ text: 'x' }], usage }, Basis.USAGE],
    ['with a vector', '/v1/embeddings', vectors([-0.5]), Basis.USAGE],
    [
      'without a text',
      '/v1/chat/completions',
      { choices: [{ finish_reason: 'stop' }], padding, usage },
      Basis.RELEASED,
    ],
    ['with an empty text', '/v1/messages', { content: [{ type: 'text', text: '' }], padding, usage }, Basis.RELEASED],
    ['without a vector', '/v1/embeddings', vectors([]), Basis.RELEASED],
  ])('%s at %s is charged by whether anything was delivered', async (_what, path, body, basis) => {
    relay().first.reply = json(body);
    expect((await post(path, { model: 'some-model', input: 'x', max_tokens: 9 })).json).toEqual(body);

    expect(await settled()).toMatchObject([{ basis }]);
  });
});

describe('images are charged by what came', () => {
  const image = { b64_json: 'AAAA' };
  const LONG = { b64_json: 'A'.repeat(1_500_000) };
  test.each<[string, object, bigint]>([
    ['one of two', { data: [image] }, 1n],
    ['one of two, and an empty one', { data: [{ url: 'https://a.example/1.png' }, { url: '' }] }, 1n],
    ['two that are too long to be held', { data: [LONG, LONG] }, 2n],
    ['one of two that is too long to be held', { data: [LONG] }, 1n],
    ['one of two that is long', { data: [{ b64_json: 'A'.repeat(200_000) }] }, 1n],
    ['one with a link that is too long to be held', { data: [{ url: 'https://a.example/1.png', ...LONG }] }, 1n],
  ])('%s', async (_what, body, images) => {
    relay().first.reply = json(body);
    await post('/v1/images/generations', { model: 'some-model', prompt: 'x', n: 2 });

    expect(await settled()).toMatchObject([{ basis: Basis.USAGE, usage: { images } }]);
  });
  test.each<[string, string, object]>([
    ['one of two', named('image_generation.completed', image), { basis: Basis.ESTIMATE, usage: { images: 1n } }],
    ['a part of one', named('image_generation.partial_image', image), { basis: Basis.RELEASED }],
  ])('%s, when the upstream breaks off', async (_what, events, charge) => {
    relay().first.reply = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events);
      setTimeout(() => response.destroy(), 50);
    };
    const body = { model: 'some-model', prompt: 'x', n: 2, stream: true };
    await (
      await openStream(relay().gateway.url, '/v1/images/generations', body)
    ).ended;

    expect(await settled()).toMatchObject([charge]);
  });
});
