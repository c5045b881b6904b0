import { describe, expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';
import { DELIVERED, json, startRelayUpstream } from '../../../testing/scripted-relay-upstream.ts';
import type { Reply } from '../../../testing/scripted-relay-upstream.ts';

const relay = withRelay({ timeouts: { first_byte: '300ms', idle: '300ms' } });
const chat = { model: 'some-model', messages: [] };
const post = (path = '/v1/chat/completions', body: unknown = chat) => call(relay().gateway.url, 'POST', path, { body });
const GOOD = json({ ...DELIVERED, model: 'upstream-model-2026', usage: { prompt_tokens: 1, completion_tokens: 1 } });
const error = (status: number, message = 'no'): Reply =>
  json({ error: { message, type: 't', code: 'c', param: null } }, status);
const counts = (): number[] => relay().upstreams.map(({ seen }) => seen.length);
const bases = async (count: number): Promise<Basis[]> => {
  await relay().gateway.settled(count);
  return relay().gateway.calls.settled.map(({ basis }) => basis);
};

describe('a fault of a channel leads to the next one', () => {
  test.each([401, 402, 403, 404, 408, 429, 500, 502, 503, 529, 302])('%i', async (status) => {
    relay().first.reply = error(status);
    relay().second.reply = GOOD;
    const answer = await post();

    expect([answer.status, ...counts()]).toEqual([200, 1, 1]);
    expect(relay().second.seen[0]?.headers.authorization).toBe('Bearer second-secret-key');
    expect(relay().second.seen[0]?.body.equals(relay().first.seen[0]?.body ?? Buffer.alloc(0))).toBe(true);
    expect(await bases(1)).toEqual([Basis.USAGE]);
    expect(relay().gateway.calls.settled[0]?.channel).toBe('channel-two');
    expect(relay().gateway.calls.placed).toHaveLength(1);
  });
});

describe('a fault of the request is answered, and no other channel is tried', () => {
  test.each([400, 409, 413, 422])('%i', async (status) => {
    relay().first.reply = error(status, 'max_tokens is too large for upstream-model-2026');
    const answer = await post();

    expect([answer.status, ...counts()]).toEqual([status, 1, 0]);
    expect(answer.json).toEqual({
      error: { message: 'max_tokens is too large for some-model', type: 't', code: 'c', param: null },
    });
    expect(await bases(1)).toEqual([Basis.RELEASED]);
  });
});

describe('if all channels fail', () => {
  test.each([429, 500, 503])('the last %i is the answer, with its Retry-After', async (status) => {
    relay().first.reply = error(500);
    relay().second.reply = json({ error: { message: 'over' } }, status, { 'retry-after': '7' });
    const answer = await post();

    expect([answer.status, answer.json.error.message, answer.headers['retry-after']]).toEqual([status, 'over', '7']);
    expect(await bases(1)).toEqual([Basis.RELEASED]);
  });
  test.each([401, 402, 403])('a %i for our own credential is never the answer', async (status) => {
    relay().first.reply = error(status, 'Incorrect API key provided: upstream-secret-key');
    relay().second.reply = error(status);
    const answer = await post();

    expect([answer.status, answer.json.error.code]).toEqual([503, 'no_channel_available']);
    expect(answer.text).not.toContain('key');
    expect(await bases(1)).toEqual([Basis.RELEASED]);
  });
  test('an HTML page of an intermediary becomes our own error', async () => {
    relay().first.reply = error(500);
    relay().second.reply = (_request, response) =>
      void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>nginx at up.example</html>');
    const answer = await post('/v1/messages');

    expect([answer.status, answer.json.type, answer.json.error.type]).toEqual([502, 'error', 'api_error']);
    expect(answer.text).not.toContain('nginx');
  });
});

describe('a call that may have been done is never sent again', () => {
  test.each<[string, Reply, number, string]>([
    ['a reset', (_request, response) => void response.destroy(), 502, 'upstream_failed'],
    ['silence', () => undefined, 504, 'upstream_timeout'],
    [
      'half an answer',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 }).write('{"id":');
        setTimeout(() => response.destroy(), 20);
      },
      502,
      'upstream_failed',
    ],
    [
      'half an answer, and silence',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 }).write('{"id":');
      },
      504,
      'upstream_timeout',
    ],
  ])('%s', async (_, reply, status, code) => {
    relay().first.reply = reply;
    const answer = await post();

    expect([answer.status, answer.json.error.code, answer.headers['x-should-retry'], ...counts()]).toEqual([
      status,
      code,
      'false',
      1,
      0,
    ]);
    expect(await bases(1)).toEqual([Basis.RELEASED]);
  });
});

test('a channel that fails repeatedly is skipped at all its endpoints', async () => {
  relay().first.reply = error(500);
  relay().second.reply = GOOD;
  for (let fault = 0; fault < 5; fault += 1) await post();
  relay().first.reply = GOOD;
  relay().first.seen.length = 0;

  expect((await post()).status).toBe(200);
  expect((await post('/v1/embeddings')).status).toBe(200);
  expect(relay().first.seen).toHaveLength(0);
  await relay().gateway.clock.advance(31_000);
  await post();
  expect(relay().first.seen).toHaveLength(1);
});

describe('limits of a channel', () => {
  test('are shared by its endpoints, and if only they refuse a call, the answer tells when to retry', async () => {
    const upstream = await startRelayUpstream(GOOD);
    const under = await startGatewayUnderTest({
      channels: [aRelayChannel({ base_url: upstream.url, limits: { requests_per_minute: 2, in_flight: 10 } })],
    });
    try {
      const statuses = [];
      for (const path of ['/v1/chat/completions', '/v1/embeddings', '/v1/rerank'])
        statuses.push(await call(under.url, 'POST', path, { body: chat }));
      await under.settled(3);

      expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(statuses[2]?.headers['retry-after']).toBe('60');
      expect(statuses[2]?.headers['x-should-retry']).toBeUndefined();
      expect(upstream.seen).toHaveLength(2);
      expect(under.calls.settled.map(({ basis }) => basis).toSorted()).toEqual(
        [Basis.USAGE, Basis.USAGE, Basis.RELEASED].toSorted(),
      );
    } finally {
      await under.stop();
      await upstream.stop();
    }
  });
  test('an upstream that refuses connections is skipped', async () => {
    const under = await startGatewayUnderTest({ channels: [aRelayChannel({ base_url: 'http://127.0.0.1:9' })] });
    try {
      const answer = await call(under.url, 'POST', '/v1/chat/completions', { body: chat });
      await under.settled(1);

      expect([
        answer.status,
        answer.json.error.code,
        answer.headers['retry-after'],
        answer.headers['x-should-retry'],
      ]).toEqual([503, 'no_channel_available', '5', undefined]);
      expect(under.calls.settled).toMatchObject([{ basis: Basis.RELEASED }]);
    } finally {
      await under.stop();
    }
  });
});
