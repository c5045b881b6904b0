import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Problem } from '@reelgate/platform/problem';
import { RELAY_KEYS, UPSTREAM_MODELS } from '../../../../../test/harness/relay-upstream/identities.ts';
import { leaks, OTHER_TOKEN, REALTIME_TOKEN, startRealtimeUnderTest } from '../../../testing/realtime-under-test.ts';
import type { DialOptions, RealtimeUnderTest } from '../../../testing/realtime-under-test.ts';

let under: RealtimeUnderTest;

beforeEach(async () => {
  under = await startRealtimeUnderTest();
});

afterEach(async () => {
  await under.stop();
});

describe('a refusal is an HTTP answer, and no upstream is dialled', () => {
  test.each<[string, string, DialOptions, number, string]>([
    ['no token', 'model=voice', { headers: {} }, 401, 'invalid_api_key'],
    [
      'an unknown token',
      'model=voice',
      { headers: { authorization: 'Bearer sk-unknown-0123456789' } },
      401,
      'invalid_api_key',
    ],
    [
      'an unknown token as a subprotocol',
      'model=voice',
      { headers: {}, protocols: ['realtime', 'openai-insecure-api-key.sk-unknown-0123456789'] },
      401,
      'invalid_api_key',
    ],
    ['no model', 'x=1', {}, 400, 'missing_model'],
    ['a model that the token does not see', 'model=hidden', {}, 404, 'model_not_found'],
    ['a model without this endpoint', 'model=text', {}, 404, 'model_not_found'],
    ['another version of the protocol', 'model=voice', { protocolVersion: 8 }, 426, 'upgrade_required'],
  ])('%s', async (_name, query, options, status, code) => {
    const answer = await under.refusal(query, options);

    expect(answer).toMatchObject({ status, json: { error: { code, message: expect.any(String) } } });
    expect(answer.headers).toMatchObject({
      'content-type': expect.stringContaining('application/json'),
      'x-request-id': expect.any(String),
    });
    expect(under.upstream.sessions).toHaveLength(0);
    expect(under.orders).toHaveLength(0);
  });

  test('too many handshakes in a minute', async () => {
    for (let call = 0; call < 5; call += 1) expect((await under.refusal('model=hidden')).status).toBe(404);

    expect(await under.refusal()).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.any(String) },
      json: { error: { code: 'rate_limit_exceeded' } },
    });
  });

  test('no balance', async () => {
    under.refuseMoney(
      new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'the balance does not cover this' }),
    );

    expect(await under.refusal()).toMatchObject({
      status: 429,
      headers: { 'x-should-retry': 'false' },
      json: { error: { code: 'insufficient_quota' } },
    });
    expect(under.upstream.sessions).toHaveLength(0);
    expect(under.settled).toHaveLength(0);
  });

  test('more sessions than the gateway allows', async () => {
    await under.session();
    await under.session();
    await under.session(undefined, { headers: { authorization: `Bearer ${OTHER_TOKEN}` } });

    expect(await under.refusal(undefined, { headers: { authorization: `Bearer ${OTHER_TOKEN}` } })).toMatchObject({
      status: 503,
      json: { error: { code: 'gateway_busy' } },
    });
    expect(under.upstream.sessions).toHaveLength(3);
  });
});

test('a request without an upgrade, or at another path, is answered like any other', async () => {
  const answer = await fetch(`${under.url}/v1/realtime?model=voice`);

  expect(answer.status).toBe(418);
  const other = new WebSocket(`${under.url.replace('http', 'ws')}/v1/models`);
  other.on('error', () => undefined);
  expect(((await once(other, 'unexpected-response')) as [unknown, { statusCode: number }])[1].statusCode).toBe(418);
});

test('a browser sends its token as a subprotocol, which is not passed on', async () => {
  const { client, there } = await under.session('model=voice', {
    headers: {},
    protocols: ['realtime', `openai-insecure-api-key.${REALTIME_TOKEN}`],
  });

  expect(client.protocol).toBe('realtime');
  expect(there.asked.headers['sec-websocket-protocol']).toBe('realtime');
  expect(JSON.stringify(there.asked.rawHeaders)).not.toContain(REALTIME_TOKEN);
  expect(there.asked.headers.authorization).toBe(`Bearer ${RELAY_KEYS['main']!}`);
});

test('the handshake tells the client nothing about the upstream', async () => {
  const client = under.dial();
  const [response] = (await once(client, 'upgrade')) as [{ rawHeaders: string[] }];

  expect(leaks(response.rawHeaders)).toEqual([]);
  expect(response.rawHeaders.map((name) => name.toLowerCase())).toContain('x-request-id');
});

test('a client that is refused and keeps its end open does not keep the connection', async () => {
  const socket = connect({ port: Number(new URL(under.url).port), host: '127.0.0.1', allowHalfOpen: true });
  socket.write(
    [
      'GET /v1/realtime?model=voice HTTP/1.1',
      'host: x',
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      '',
      '',
    ].join('\r\n'),
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  await once(socket, 'end');

  expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
  const lost = once(socket, 'error', { signal: AbortSignal.timeout(2000) }).catch((error: unknown) => [error]);
  for (const more of ['data after the client has left', 'is answered by a reset', 'and cannot be sent again']) {
    socket.write(more);
    await wait(50);
  }
  expect((await lost)[0]).toMatchObject({ code: expect.stringMatching(/ECONNRESET|EPIPE/) });
});

describe('the next channel is tried', () => {
  test.each([401, 403, 429, 500, 503])('if a channel refuses the handshake with %d', async (status) => {
    const { there } = await under.session(`model=voice&words=[main/status:${status}]`);

    expect(under.upstream.sessions.map(({ asked }) => asked.channel)).toEqual(['main', 'spare']);
    expect(there.asked.query).toContain(UPSTREAM_MODELS.spare);
    expect(under.orders).toHaveLength(1);
  });

  test('but not after an invalid request', async () => {
    const answer = await under.refusal('model=voice&words=[status:400]');

    expect(answer).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining('Upstream trouble with voice') } },
    });
    expect(leaks([answer.text, answer.headers])).toEqual([]);
    expect(under.upstream.sessions).toHaveLength(1);
    expect(under.settled).toEqual([{ callId: under.orders[0]!.callId, charge: { basis: 'released' } }]);
  });

  test.each([
    [429, 429, '7'],
    [500, 500, '7'],
    [401, 503, '5'],
  ])('and if all channels refuse with %d, the answer is %d', async (status, expected, retryAfter) => {
    const answer = await under.refusal(`model=voice&words=[status:${status}]`);

    expect(answer).toMatchObject({ status: expected, headers: { 'retry-after': retryAfter } });
    expect(leaks([answer.text, answer.headers])).toEqual([]);
    expect(under.settled.map(({ charge }) => charge)).toEqual([{ basis: 'released' }]);
  });

  test('and a full channel is skipped', async () => {
    under.channels.replace([under.channel('main', { inFlightMax: 1 })]);
    await under.session();

    expect(await under.refusal()).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
      json: { error: { code: 'rate_limit_exceeded' } },
    });
  });
});
