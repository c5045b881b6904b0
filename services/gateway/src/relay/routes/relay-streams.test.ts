import http from 'node:http';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { TOKEN } from '../../../testing/fake-services.ts';
import { openStream } from '../../../testing/open-stream.ts';
import type { OpenStream } from '../../../testing/open-stream.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';
import { events, json } from '../../../testing/scripted-relay-upstream.ts';
import { until } from '@reelgate/platform/testing/until';

const relay = withRelay({ timeouts: { first_byte: '5s', idle: '400ms' } });
const patient = withRelay({
  limits: { requests_per_minute: 1_000_000, in_flight: 2000 },
  timeouts: { first_byte: '60s', idle: '60s' },
});
const chat = { model: 'some-model', messages: [{ role: 'user', content: 'hello there' }], stream: true };
const open = (path = '/v1/chat/completions', body: unknown = chat) => openStream(relay().gateway.url, path, body);
const charged = async () => {
  await relay().gateway.settled(1);
  return relay().gateway.calls.settled;
};
const chunk = (content: string, more = ''): string =>
  `data: {"model":"upstream-model-2026","choices":[{"delta":{"content":"${content}"}}]${more}}\n\n`;
const USAGE_CHUNK =
  'data: {"model":"upstream-model-2026","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}\n\n';
const DONE = 'data: [DONE]\n\n';

describe('a chat stream', () => {
  test('has its usage requested, which the client sees only if it requested it', async () => {
    relay().first.reply = events([
      ': up\n\n',
      chunk('one', ',"usage":null'),
      chunk('two', ', "usage" : null , "x":1'),
      USAGE_CHUNK,
      DONE,
    ]);
    const { ended, response } = await open();
    const { text } = await ended;

    expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    expect(JSON.parse(relay().first.seen[0]?.body.toString() ?? '')).toEqual({
      ...chat,
      model: 'upstream-model-2026',
      stream_options: { include_usage: true },
    });
    expect(text).toBe(
      `: up\n\n${chunk('one')}${chunk('two', ' , "x":1')}${DONE}`.replaceAll('upstream-model-2026', 'some-model'),
    );
    expect(await charged()).toMatchObject([{ basis: Basis.USAGE, usage: { inputTokens: 9n, outputTokens: 3n } }]);
  });
  test('shows its usage to a client that requested it', async () => {
    relay().first.reply = events([chunk('one', ',"usage":null'), USAGE_CHUNK, DONE]);
    const { ended } = await open(undefined, { ...chat, stream_options: { include_usage: true } });

    expect((await ended).text).toBe(
      `${chunk('one', ',"usage":null')}${USAGE_CHUNK}${DONE}`.replaceAll('upstream-model-2026', 'some-model'),
    );
  });
  test('without usage is charged by its hold', async () => {
    relay().first.reply = events([chunk('one'), DONE]);
    await (
      await open()
    ).ended;

    expect(await charged()).toMatchObject([{ basis: Basis.HOLD }]);
  });
});

describe('streams of the other protocols', () => {
  test('responses: the usage of the last event is charged, and every event is unchanged', async () => {
    const frames = [
      'event: response.created\n' +
        'data: {"type":"response.created","response":{"model":"upstream-model-2026","usage":null}}\n\n',
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"hi"}\n\n',
      'event: response.completed\n' +
        'data: {"type":"response.completed","response":' +
        '{"model":"upstream-model-2026","usage":{"input_tokens":7,"output_tokens":2}}}\n\n',
    ];
    relay().first.reply = events(frames);

    expect((await (await open('/v1/responses')).ended).text).toBe(
      frames.join('').replaceAll('upstream-model-2026', 'some-model'),
    );
    expect(await charged()).toMatchObject([{ basis: Basis.USAGE, usage: { inputTokens: 7n, outputTokens: 2n } }]);
  });
  test('messages', async () => {
    relay().first.reply = events([
      'event: message_start\n' +
        'data: {"type":"message_start","message":' +
        '{"model":"upstream-model-2026","usage":{"input_tokens":25,"output_tokens":1}}}\n\n',
      'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":15}}\n\n',
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ]);
    const { text } = await (await open('/v1/messages')).ended;

    expect(text).toContain('"message":{"model":"some-model"');
    expect(await charged()).toMatchObject([{ basis: Basis.USAGE, usage: { inputTokens: 25n, outputTokens: 15n } }]);
  });
  test('generateContent, with carriage returns', async () => {
    const frames = [
      'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}],' +
        '"usageMetadata":{"promptTokenCount":4},"modelVersion":"upstream-model-2026"}\r\n\r\n',
      'data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":9},' +
        '"modelVersion":"upstream-model-2026"}\r\n\r\n',
    ];
    relay().first.reply = events(frames);

    expect((await (await open('/v1beta/models/some-model:streamGenerateContent?alt=sse')).ended).text).toBe(
      frames.join('').replaceAll('upstream-model-2026', 'some-model'),
    );
    expect(await charged()).toMatchObject([{ basis: Basis.USAGE, usage: { inputTokens: 4n, outputTokens: 9n } }]);
  });
});

describe('a stream of events', () => {
  test('sends each event at once, while the upstream still writes', async () => {
    let upstream: ServerResponse | undefined;
    relay().first.reply = (_request, response) => {
      upstream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      upstream.write(chunk('one'));
    };
    const stream = await open();
    expect(stream.response.statusCode).toBe(200);
    await stream.has('one');
    upstream?.write('data: {"half":');
    await wait(50);
    expect(stream.text()).not.toContain('half');
    upstream?.end(`1}\n\n${DONE}`);
    expect((await stream.ended).wasWhole).toBe(true);
  });
  test('ends its last event with a blank line, even if the upstream omits it', async () => {
    relay().first.reply = events([chunk('one'), 'data: [DONE]']);

    expect((await (await open()).ended).text.endsWith('data: [DONE]\n\n')).toBe(true);
  });
  test('passes trailers on, without those that identify the upstream', async () => {
    relay().first.reply = (_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream', trailer: 'x-digest, x-request-id' })
        .write(chunk('one'));
      response.addTrailers({ 'x-digest': 'abc', 'x-request-id': 'req_1' });
      response.end();
    };
    const { response, ended } = await open();
    await ended;

    expect(response.trailers).toEqual({ 'x-digest': 'abc' });
  });
  test('sends heartbeats while the upstream is silent, each in its own frame', async () => {
    let upstream: ServerResponse | undefined;
    relay().first.reply = (_request, response) => {
      upstream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      upstream.write(`${chunk('one')}data: {"half`);
    };
    const stream = await open();
    await stream.has('one');
    for (let second = 0; second < 16; second += 1) await relay().gateway.clock.advance(1000);
    await stream.has(': ping\n\n');
    upstream?.end(`":1}\n\n${DONE}`);

    expect((await stream.ended).text).toBe(
      `${chunk('one').replace('upstream-model-2026', 'some-model')}: ping\n\ndata: {"half":1}\n\n${DONE}`,
    );
  });
});

describe('an upstream that fails within its answer', () => {
  const MESSAGE = 'the upstream closed the connection within its answer';
  /** Something of what every protocol is called for. */
  const PART =
    'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}\n\n' +
    'data: {"type":"response.output_text.delta","delta":"x"}\n\n' +
    'data: {"choices":[{"delta":{"content":"x"}}],"candidates":[{"content":{"parts":[{"text":"x"}]}}]}\n\n';
  const openai = { message: MESSAGE, type: 'server_error', param: null, code: 'upstream_failed' };
  test.each<[string, string, object]>([
    ['/v1/chat/completions', '', { error: openai }],
    ['/v1/responses', 'event: error\n', { type: 'error', code: 'upstream_failed', message: MESSAGE, param: null }],
    ['/v1/messages', 'event: error\n', { type: 'error', error: { type: 'api_error', message: MESSAGE } }],
    [
      '/v1beta/models/some-model:streamGenerateContent?alt=sse',
      '',
      { error: { code: 502, message: MESSAGE, status: 'UNAVAILABLE' } },
    ],
  ])('%s: the client gets an error of its dialect, and the stream ends', async (path, line, data) => {
    relay().first.reply = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`${PART}data: {"half`);
      setTimeout(() => response.destroy(), 20);
    };
    const { text, wasWhole } = await (await open(path)).ended;

    expect(text).toBe(`${PART}${line}data: ${JSON.stringify(data)}\n\n`);
    expect(wasWhole).toBe(true);
    expect(await charged()).toMatchObject([{ basis: Basis.ESTIMATE }]);
  });
  test('and falls silent is reported like one that breaks off', async () => {
    relay().first.reply = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk('one'));

    expect((await (await open()).ended).text).toContain('"code":"upstream_timeout"');
    expect(relay().second.seen).toEqual([]);
  });
  test('and sends no events breaks the connection of the client', async () => {
    relay().first.reply = (_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': 1000 }).write('abc');
      setTimeout(() => response.destroy(), 20);
    };
    const { wasWhole } = await (await open('/v1/audio/speech', { model: 'some-model', input: 'abcdef' })).ended;

    expect(wasWhole).toBe(false);
    expect(await charged()).toMatchObject([{ basis: Basis.ESTIMATE, usage: { characters: 1n } }]);
  });
});

describe('a client that leaves', () => {
  test('during a stream: the upstream is cancelled, and what was written is charged once', async () => {
    relay().first.reply = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk('x'.repeat(400)));
    const before = relay().first.left();
    const stream = await open();
    await stream.has('xxx');
    stream.leave();
    await until(() => relay().first.left() === before + 1);

    expect(await charged()).toMatchObject([{ basis: Basis.ESTIMATE, usage: { outputTokens: 100n } }]);
    await wait(50);
    expect(relay().gateway.calls.settled).toHaveLength(1);
  });
  test('before the first byte: the upstream is cancelled, and what was sent is charged', async () => {
    relay().first.reply = () => undefined;
    const before = relay().first.left();
    const { hostname, port } = new URL(relay().gateway.url);
    const request = http.request({
      hostname,
      port,
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    });
    request.on('error', () => undefined).end(JSON.stringify(chat));
    await until(() => relay().first.seen.length === 1);
    request.destroy();
    await until(() => relay().first.left() === before + 1);

    expect(await charged()).toMatchObject([{ basis: Basis.ESTIMATE, usage: { outputTokens: 0n } }]);
    expect(relay().second.seen).toEqual([]);
  });
});

/** A stream that writes nothing for this long is held. */
const STILL_MS = 300;

test('a slow reader slows the upstream down, and nothing accumulates', async () => {
  const BYTES = 64 * 1024 * 1024;
  let written = 0;
  relay().first.reply = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const frame = Buffer.from(chunk('x'.repeat(64 * 1024)));
    const more = (): void => {
      while (written < BYTES && response.write(frame)) written += frame.length;
      if (written < BYTES) {
        written += frame.length;
        response.once('drain', more);
      } else response.end(DONE);
    };
    more();
  };
  const stream = await open();
  stream.response.pause();
  // what is written until nothing moves fills the buffers of both connections
  for (let last = -1; last !== written;) {
    last = written;
    await wait(STILL_MS);
  }
  expect(written).toBeLessThan(BYTES / 4);

  stream.response.resume();
  expect((await stream.ended).wasWhole).toBe(true);
  expect(written).toBeGreaterThanOrEqual(BYTES);
});

test('a refusal comes before any 200 of a stream', async () => {
  relay().first.reply = json({ error: { message: 'bad', type: 'invalid_request_error', param: null, code: 'x' } }, 400);
  const { response, ended } = await open();

  expect([response.statusCode, response.headers['content-type']]).toEqual([400, 'application/json']);
  expect(JSON.parse((await ended).text)).toMatchObject({ error: { message: 'bad' } });
});

test('a thousand idle streams take little memory, and each gets heartbeats', async () => {
  const STREAMS = 1000;
  /** Covers the client, the gateway and the upstream, which share this process. */
  const BYTES_EACH_MAX = 256 * 1024;
  patient().first.reply = (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk('one'));
  const before = process.memoryUsage().rss;
  const streams: OpenStream[] = [];
  for (let opened = 0; opened < STREAMS; opened += 100)
    streams.push(
      ...(await Promise.all(
        Array.from({ length: 100 }, () => openStream(patient().gateway.url, '/v1/chat/completions', chat)),
      )),
    );
  await Promise.all(streams.map((stream) => stream.has('one')));
  const taken = process.memoryUsage().rss - before;
  for (let second = 0; second < 16; second += 1) await patient().gateway.clock.advance(1000);
  await Promise.all(streams.map((stream) => stream.has(': ping')));

  expect(taken).toBeLessThan(STREAMS * BYTES_EACH_MAX);
  for (const stream of streams) stream.leave();
  await patient().gateway.settled(STREAMS);
  expect(new Set(patient().gateway.calls.settled.map(({ callId }) => callId)).size).toBe(STREAMS);
});
