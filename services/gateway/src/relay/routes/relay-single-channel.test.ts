import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { openStream } from '../../../testing/open-stream.ts';
import { DELIVERED, json, startRelayUpstream } from '../../../testing/scripted-relay-upstream.ts';
import type { RelayUpstream, Reply } from '../../../testing/scripted-relay-upstream.ts';
import { until } from '@reelgate/platform/testing/until';

const chat = { model: 'some-model', messages: [] };
const GOOD = json({ ...DELIVERED, model: 'upstream-model-2026', usage: { prompt_tokens: 1, completion_tokens: 1 } });
const EVENT = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
const BROKEN: Reply = (_request, response) => {
  response
    .writeHead(200, { 'content-type': 'text/event-stream' })
    .write(EVENT, () => void setTimeout(() => response.destroy(), 5));
};
let upstream: RelayUpstream;
let under: GatewayUnderTest;
beforeAll(async () => {
  upstream = await startRelayUpstream();
  under = await startGatewayUnderTest({ channels: [aRelayChannel({ id: 'the-only-one', base_url: upstream.url })] });
});
afterAll(async () => {
  await under.stop();
  await upstream.stop();
});
const post = () => call(under.url, 'POST', '/v1/chat/completions', { body: chat });
const stream = () => openStream(under.url, '/v1/chat/completions', { ...chat, stream: true });

beforeEach(async () => {
  // a successful call closes the circuit, whatever state a test has left it in
  upstream.reply = GOOD;
  await under.clock.advance(60_000);
  await post();
  upstream.seen.length = 0;
  under.warnings.length = 0;
});

describe('the only channel of a model', () => {
  beforeEach(async () => {
    upstream.reply = BROKEN;
    for (let fault = 0; fault < 5; fault += 1) await (await stream()).ended;
    upstream.seen.length = 0;
  });

  test('is tried by the next call however often it failed, and by all calls once it works', async () => {
    upstream.reply = json({}, 500);
    expect([(await post()).status, upstream.seen.length]).toEqual([500, 1]);
    upstream.reply = GOOD;

    expect((await Promise.all([post()]))[0]?.status).toBe(200);
    expect((await Promise.all([post(), post(), post()])).map(({ status }) => status)).toEqual([200, 200, 200]);
  });
  test('is tried by one call at a time: the others are refused until an answer begins', async () => {
    let answering: ServerResponse | undefined;
    upstream.reply = (_request, response) => {
      answering = response;
    };
    const first = stream();
    await until(() => answering !== undefined);

    expect([(await post()).status, (await post()).json.error.code, upstream.seen.length]).toEqual([
      503,
      'no_channel_available',
      1,
    ]);
    answering?.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENT);
    await (await first).has('x');
    upstream.reply = GOOD;
    expect((await post()).status).toBe(200);
    answering?.end();
    await (
      await first
    ).ended;
  });
});

test('clients that leave never open the circuit of a channel', async () => {
  upstream.reply = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENT);
  };
  for (let time = 0; time < 6; time += 1) {
    const left = upstream.left();
    const one = await stream();
    await one.has('x');
    one.leave();
    await until(() => upstream.left() > left);
  }
  upstream.reply = GOOD;

  expect((await Promise.all([post(), post(), post()])).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(under.warnings).toEqual([]);
});

test('answers that exceed the deadline because their client does not read never open the circuit', async () => {
  upstream.reply = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENT);
  };
  const streams = await Promise.all(Array.from({ length: 6 }, stream));
  await Promise.all(streams.map((one) => one.has('x')));
  await under.clock.advance(3_700_000);
  for (const one of streams) expect((await one.ended).text).toContain('upstream_timeout');
  upstream.reply = GOOD;

  expect((await Promise.all([post(), post(), post()])).map(({ status }) => status)).toEqual([200, 200, 200]);
});

describe('the log has each failed attempt', () => {
  test.each<[string, Reply, object]>([
    ["an answer that is the channel's fault", json({}, 503), { end: '503' }],
    ['a reset', (_request, response) => void response.destroy(), { end: 'upstream_failed', fault: 'UND_ERR_SOCKET' }],
    ['an answer that broke off', BROKEN, { end: 'broken' }],
  ])('%s', async (_, reply, said) => {
    upstream.reply = reply;
    const answer = await call(under.url, 'POST', '/v1/chat/completions', {
      body: { ...chat, stream: true },
      headers: { 'x-request-id': 'req-of-the-test' },
    });
    const told = under.warnings.find(({ message }) => message === 'a channel failed');

    expect(told?.fields).toEqual({
      requestId: 'req-of-the-test',
      channel: 'the-only-one',
      model: 'some-model',
      ms: expect.any(Number),
      ...said,
    });
    expect(answer.text).not.toContain('the-only-one');
  });
  test('but no attempt that failed because of the client', async () => {
    upstream.reply = json({ error: {} }, 400);
    await post();

    expect(under.warnings).toEqual([]);
  });
});
