import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { keepingTracing } from '@reelgate/platform/testing/keeping-tracing';
import type { KeepingTracing } from '@reelgate/platform/testing/keeping-tracing';
import type { ReceivedSpan } from '@reelgate/platform/testing/otlp-spans';
import { until } from '@reelgate/platform/testing/until';
import { aRelayChannel } from '../../testing/a-relay-channel.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import { DELIVERED, json, startRelayUpstream } from '../../testing/scripted-relay-upstream.ts';
import type { RelayUpstream } from '../../testing/scripted-relay-upstream.ts';

const CLIENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const CLIENT_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PROMPT = 'a planted prompt';
const video = { model: 'Alpha-H3', prompt: PROMPT, seconds: '5' };
const chat = { model: 'some-model', messages: [{ role: 'user', content: PROMPT }] };
const USAGE = {
  usage: { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } },
};

let kept: KeepingTracing;
let [first, second]: RelayUpstream[] = [];
let under: GatewayUnderTest;

beforeAll(async () => {
  kept = keepingTracing({ creates: 1, calls: 1, reads: 1 });
  [first, second] = [await startRelayUpstream(), await startRelayUpstream()];
  under = await startGatewayUnderTest({
    tracing: kept.tracing,
    channels: [
      aRelayChannel({ id: 'channel-one', base_url: first.url, priority: 1 }),
      aRelayChannel({ id: 'channel-two', base_url: second.url }),
    ],
  });
});
beforeEach(() => {
  first!.seen.length = 0;
  second!.seen.length = 0;
});
afterAll(async () => {
  await under.stop();
  await Promise.all([first!.stop(), second!.stop()]);
});

/** Makes a request, and gives the spans of its trace once the request's own span is there. */
async function spansOf(
  method: string,
  path: string,
  options: Parameters<typeof call>[3] = {},
): Promise<{ readonly root: ReceivedSpan; readonly spans: readonly ReceivedSpan[] }> {
  const before = new Set(kept.spans().map(({ spanId }) => spanId));
  await call(under.url, method, path, options);
  const roots = (): ReceivedSpan[] =>
    kept.spans().filter(({ spanId, parentSpanId }) => parentSpanId === '' && !before.has(spanId));
  await until(() => roots().length === 1);
  const [root] = roots();
  return { root: root!, spans: kept.spans().filter(({ traceId }) => traceId === root!.traceId) };
}

const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan[] =>
  spans.filter((span) => span.name === name);

test('a create is one trace, with the calls that it makes below it', async () => {
  const { root, spans } = await spansOf('POST', '/v1/videos', {
    body: video,
    headers: { 'x-request-id': 'req-of-the-test' },
  });

  expect([root.name, root.kind, root.failed]).toEqual(['POST /v1/videos', 'server', false]);
  expect(root.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/v1/videos',
    'http.response.status_code': 200,
    'reelgate.request.id': 'req-of-the-test',
    'reelgate.account.id': expect.any(String),
    'reelgate.task.id': expect.stringMatching(/^task_/),
  });
  const [create] = named(spans, 'reelgate.tasks.v1.TaskService/CreateTask');
  expect(create!.parentSpanId).toBe(root.spanId);
  expect(create!.attributes).toMatchObject({ 'rpc.system.name': 'grpc', 'rpc.status_code': 'OK' });
});

test.each(['GET', 'DELETE'])('%s of an id that has not the form of ours: its span names no task', async (method) => {
  const { root } = await spansOf(method, '/v1/videos/sk-planted-key');

  expect([root.attributes['http.route'], root.attributes['http.response.status_code']]).toEqual([
    '/v1/videos/{task_id}',
    404,
  ]);
  expect(JSON.stringify(root)).not.toContain('planted');
});

test("a client's trace is linked and named, and never continued", async () => {
  const { root } = await spansOf('POST', '/v1/videos', { body: video, headers: { traceparent: CLIENT } });

  expect(root.traceId).not.toBe(CLIENT_TRACE);
  expect(root.links).toEqual([{ traceId: CLIENT_TRACE, spanId: '00f067aa0ba902b7' }]);
  expect(root.attributes['reelgate.client.trace_id']).toBe(CLIENT_TRACE);
});

test('a refusal is no failure, and its span does not repeat what the client wrote', async () => {
  const { root } = await spansOf('POST', '/v1/chat/completions', { body: { ...chat, model: 'a planted model' } });

  expect([root.failed, root.attributes['http.response.status_code']]).toEqual([false, 404]);
  expect(JSON.stringify(root)).not.toContain('planted');
});

test('a relayed call has the conventions for generative AI, and a span for each attempt', async () => {
  first!.reply = json({ error: { message: 'overloaded' } }, 503);
  second!.reply = json({ ...DELIVERED, model: 'upstream-model-2026', ...USAGE });

  const { root, spans } = await spansOf('POST', '/v1/chat/completions', { body: chat });

  const [relayed] = named(spans, 'chat some-model');
  expect(relayed!.parentSpanId).toBe(root.spanId);
  expect(relayed!.attributes).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'some-model',
    'gen_ai.request.stream': false,
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
    'gen_ai.usage.input_tokens': 7,
    'gen_ai.usage.output_tokens': 3,
    'gen_ai.usage.cache_read.input_tokens': 2,
    'reelgate.attempts': 2,
    'reelgate.charge.basis': 'usage',
    'reelgate.endpoint': 'chat',
  });
  const attempts = named(spans, 'POST');
  expect(attempts.map(({ kind, parentSpanId, failed }) => [kind, parentSpanId, failed])).toEqual([
    ['client', relayed!.spanId, true],
    ['client', relayed!.spanId, false],
  ]);
  expect(attempts.map(({ attributes }) => attributes)).toEqual([
    {
      'http.request.method': 'POST',
      'http.response.status_code': 503,
      'reelgate.channel': 'channel-one',
      'error.type': '503',
    },
    {
      'http.request.method': 'POST',
      'http.request.resend_count': 1,
      'http.response.status_code': 200,
      'reelgate.channel': 'channel-two',
    },
  ]);
});

test('no upstream learns of a trace', async () => {
  second!.reply = json({ ...DELIVERED, ...USAGE });
  first!.reply = second!.reply;

  await spansOf('POST', '/v1/chat/completions', { body: chat });

  const seen = [...first!.seen, ...second!.seen];
  expect(seen).toHaveLength(1);
  expect(Object.keys(seen[0]!.headers).filter((name) => /trace|baggage/.test(name))).toEqual([]);
});

test('no span holds a prompt, a key, a token, a query or the address of an upstream', async () => {
  second!.reply = json({ ...USAGE, choices: [{ message: { content: 'a planted answer' } }] });
  first!.reply = json({ error: { message: 'planted: http://inner.example/secret' } }, 500);

  await spansOf('POST', '/v1/videos?note=planted-query', { body: video });
  await spansOf('POST', '/v1/chat/completions?key=planted-key', { body: chat });
  await spansOf('POST', '/async/v1/chat/completions', { body: chat });
  await spansOf('GET', '/v1/videos/task_00000000000000000000000001');

  const text = JSON.stringify(kept.spans());
  const forbidden = [
    PROMPT,
    'planted',
    TOKEN,
    'upstream-secret-key',
    first!.url,
    second!.url,
    '127.0.0.1',
    'upstream-model',
  ];
  expect(forbidden.filter((secret) => text.includes(secret))).toEqual([]);
});

test('what the shares leave out is not recorded, and is answered as ever', async () => {
  const quiet = keepingTracing({ creates: 1, calls: 0, reads: 0 });
  const gateway = await startGatewayUnderTest({ tracing: quiet.tracing });
  try {
    await call(gateway.url, 'GET', '/v1/videos', {});
    const answer = await call(gateway.url, 'GET', '/v1/models', {});
    await call(gateway.url, 'POST', '/v1/videos', { body: video });
    await until(() => quiet.spans().some(({ parentSpanId }) => parentSpanId === ''));

    expect(answer.status).toBe(200);
    expect([...new Set(quiet.spans().map(({ traceId }) => traceId))]).toHaveLength(1);
  } finally {
    await gateway.stop();
  }
});
