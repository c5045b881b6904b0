import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { openMetrics } from '@reelgate/platform/metrics';
import { Problem } from '@reelgate/platform/problem';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { NEVER_SEEN, RELAY_KEYS, UPSTREAM_MODELS } from '../../../../test/harness/relay-upstream/identities.ts';
import type { RealtimeSession } from '../../../../test/harness/relay-upstream/realtime.ts';
import { startRelayUpstream } from '../../../../test/harness/relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from '../../../../test/harness/relay-upstream/relay-upstream.ts';
import { localCounters } from '../counters/local-counters.ts';
import type { CallCharges, CallOrder, Charge } from '../relay/call-charges.ts';
import type { RelayChannelSettings } from '../relay/channel-settings.ts';
import { openRelayChannels } from '../relay/relay-channels.ts';
import type { RelayChannels } from '../relay/relay-channels.ts';
import { openRealtime } from '../relay/realtime/realtime.ts';
import type { Realtime } from '../relay/realtime/realtime.ts';
import type { RealtimeSettings } from '../relay/realtime/realtime-settings.ts';
import { startPublicServer } from './http-server.ts';
import type { HttpServer } from './http-server.ts';
import { realtimeUpgrades } from './realtime-upgrade.ts';

const SETTINGS: RealtimeSettings = { messageBytesMax: 1_000_000, messagesPerSecond: 50, durationMaxMs: 600_000, pingMs: 20_000, sessionsMax: 3 };
const TOKEN = 'sk-demo-0123456789';
const BOUND_MS = 5000;
const MIB = 2 ** 20;

let clock: FakeClock;
let upstream: RelayUpstream;
let channels: RelayChannels;
let realtime: Realtime;
let server: HttpServer;
let orders: CallOrder[];
let settled: { readonly callId: string; readonly charge: Charge }[];
let refusePlacing: Problem | undefined;
let open: WebSocket[];

const channel = (id: keyof typeof UPSTREAM_MODELS, more: Partial<RelayChannelSettings> = {}): RelayChannelSettings => ({
  id: `relay-secret-${id}`, baseUrl: `http://${upstream.host}/${id}`, apiKey: new Secret(RELAY_KEYS[id]!), auth: 'bearer', endpoints: ['realtime'], models: { voice: UPSTREAM_MODELS[id] },
  priority: id === 'main' ? 1 : 0, weight: 1, enabled: true, requestsPerMinute: 100, inFlightMax: 10, firstByteTimeoutMs: 5000, idleTimeoutMs: 5000, ...more,
});

beforeEach(async () => {
  clock = fakeClock();
  upstream = await startRelayUpstream();
  [orders, settled, open, refusePlacing] = [[], [], [], undefined];
  const charges: CallCharges = {
    place: async (order) => {
      if (refusePlacing !== undefined) throw refusePlacing;
      orders.push(order);
    },
    settle: (callId, charge) => void settled.push({ callId, charge }),
  };
  channels = openRelayChannels([channel('main'), channel('spare'), channel('main', { id: 'text', endpoints: ['chat'], models: { text: 'text' } })], { clock, chance: () => 0.5 });
  const [newId, log, metrics] = [newIds(clock), silentLog, openMetrics(false)];
  realtime = openRealtime({ clock, newId, log, metrics, channels, charges, settings: SETTINGS });
  const principals = {
    of: async (key: string) => {
      if (key !== TOKEN) throw new Problem({ kind: 'unauthenticated', reason: 'invalid_api_key', message: 'no such token' });
      return { accountId: 'demo', tokenId: 'token', models: ['voice', 'text'], expiresAt: undefined };
    },
    drop: () => undefined,
  };
  const admission = { principals, counters: localCounters(clock), limits: { bodyBytes: 1, createsPerMinute: 1, readsPerMinute: 1, callsPerMinute: 5 } };
  server = await startPublicServer({
    listen: { host: '127.0.0.1', port: 0 }, ready: async () => true, metrics: undefined, handle: (_, response) => void response.writeHead(418).end(),
    upgrades: realtimeUpgrades({ realtime, admission, clock, newId, log, metrics }),
  });
});

afterEach(async () => {
  for (const socket of open) socket.terminate();
  await realtime.stop();
  await server.stop();
  await channels.close();
  await upstream.stop();
});

const dial = (query = 'model=voice', { protocols = [], ...options }: ClientOptions & { readonly protocols?: readonly string[] } = {}): WebSocket => {
  const socket = new WebSocket(`ws://127.0.0.1:${String(server.port)}/v1/realtime?${query}`, [...protocols], { headers: { authorization: `Bearer ${TOKEN}` }, ...options });
  socket.on('error', () => undefined);
  open.push(socket);
  return socket;
};

interface Session {
  readonly client: WebSocket;
  /** All that came, text as text. */
  readonly got: (string | Buffer)[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly there: RealtimeSession;
  say(event: object): void;
}

async function session(query?: string, options?: Parameters<typeof dial>[1]): Promise<Session> {
  const client = dial(query, options);
  const got: (string | Buffer)[] = [];
  client.on('message', (data: Buffer, isBinary) => got.push(isBinary ? data : data.toString()));
  const closed = once(client, 'close').then(([code, reason]) => ({ code: code as number, reason: String(reason) }));
  await until(() => got.length > 0);
  return { client, got, closed, there: upstream.sessions.at(-1)!, say: (event) => client.send(JSON.stringify(event)) };
}

/** The HTTP answer to a handshake that was refused. */
async function refusal(query?: string, options?: Parameters<typeof dial>[1]) {
  const [, response] = await once(dial(query, options), 'unexpected-response') as [unknown, import('node:http').IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  return { status: response.statusCode, headers: response.headers, text, json: JSON.parse(text) };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + BOUND_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('it did not come to that');
    await wait(5);
  }
}

const leaks = (seen: unknown): readonly string[] => NEVER_SEEN.filter((secret) => JSON.stringify(seen).includes(secret));
const respond = (instructions: string): object => ({ type: 'response.create', response: { instructions } });

describe('who may not have a session is told so in HTTP, and no upstream is dialled', () => {
  test.each<[string, string, Parameters<typeof dial>[1], number, string]>([
    ['no token', 'model=voice', { headers: {} }, 401, 'invalid_api_key'],
    ['an unknown token', 'model=voice', { headers: { authorization: 'Bearer sk-unknown-0123456789' } }, 401, 'invalid_api_key'],
    ['an unknown token as a subprotocol', 'model=voice', { headers: {}, protocols: ['realtime', 'openai-insecure-api-key.sk-unknown-0123456789'] }, 401, 'invalid_api_key'],
    ['no model', 'x=1', {}, 400, 'missing_model'],
    ['a model that the token does not see', 'model=hidden', {}, 404, 'model_not_found'],
    ['a model without this endpoint', 'model=text', {}, 404, 'model_not_found'],
    ['another version of the protocol', 'model=voice', { protocolVersion: 8 }, 426, 'upgrade_required'],
  ])('%s', async (_name, query, options, status, code) => {
    const answer = await refusal(query, options);

    expect(answer).toMatchObject({ status, json: { error: { code, message: expect.any(String) } } });
    expect(answer.headers).toMatchObject({ 'content-type': expect.stringContaining('application/json'), 'x-request-id': expect.any(String) });
    expect(upstream.sessions).toHaveLength(0);
    expect(orders).toHaveLength(0);
  });

  test('too many handshakes in a minute', async () => {
    for (let call = 0; call < 5; call += 1) expect((await refusal('model=hidden')).status).toBe(404);

    expect(await refusal()).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) }, json: { error: { code: 'rate_limit_exceeded' } } });
  });

  test('no money', async () => {
    refusePlacing = new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'the balance does not cover this' });

    expect(await refusal()).toMatchObject({ status: 429, headers: { 'x-should-retry': 'false' }, json: { error: { code: 'insufficient_quota' } } });
    expect(upstream.sessions).toHaveLength(0);
    expect(settled).toHaveLength(0);
  });

  test('more sessions than the gateway takes', async () => {
    await session();
    await session();
    await session();

    expect(await refusal()).toMatchObject({ status: 503, json: { error: { code: 'gateway_busy' } } });
    expect(upstream.sessions).toHaveLength(3);
  });
});

test('a request that asks for no WebSocket, or at another path, is answered like any other', async () => {
  const answer = await fetch(`http://127.0.0.1:${String(server.port)}/v1/realtime?model=voice`);

  expect(answer.status).toBe(418);
  const other = new WebSocket(`ws://127.0.0.1:${String(server.port)}/v1/models`);
  other.on('error', () => undefined);
  expect((await once(other, 'unexpected-response') as [unknown, { statusCode: number }])[1].statusCode).toBe(418);
});

describe('messages', () => {
  test('pass in both directions as they are, text as text and bytes as bytes', async () => {
    const { client, got, there } = await session();
    const texts = ['{ "type":"x", "n": 1.0 , "s":"\u2028 🐢 \\u00e9" }', '{"type":"conversation.item.create","item":{"text":"\\"model\\":\\"voice\\""}}'];
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 256));
    for (const text of texts) client.send(text);
    client.send(bytes, { binary: true });
    await until(() => got.length === 4);

    expect(there.messages).toEqual([...texts, bytes]);
    expect(got.slice(1)).toEqual([...texts, bytes]);
  });

  test('name the model as each side calls it', async () => {
    const { got, there, say } = await session('model=voice&x=%41');
    say({ type: 'session.update', session: { model: 'voice', instructions: 'you are voice' } });
    await until(() => got.length === 2);

    expect(there.asked.query).toBe(`?model=${UPSTREAM_MODELS.main}&x=%41`);
    expect(JSON.parse(got[0] as string)).toMatchObject({ type: 'session.created', session: { model: 'voice' } });
    expect(there.messages).toEqual([JSON.stringify({ type: 'session.update', session: { model: UPSTREAM_MODELS.main, instructions: 'you are voice' } })]);
    expect(JSON.parse(got[1] as string)).toMatchObject({ session: { model: 'voice', instructions: 'you are voice' } });
  });

  test('of errors tell nothing of the upstream', async () => {
    const { got, say } = await session();
    say({ type: 'test.error' });
    say(respond('[failed]'));
    await until(() => got.some((message) => String(message).includes('response.done')));

    expect(got.filter((message) => String(message).includes('Upstream trouble with voice'))).toHaveLength(2);
    expect(leaks(got.slice(1))).toEqual([]);
  });

  test('wait for a client that does not read, at the upstream and not here', async () => {
    const { client, got, there, say } = await session();
    client.pause();
    say({ type: 'test.flood', count: 200, bytes: MIB / 2 });
    await wait(500);
    const sent = there.sentBytes;
    expect(sent).toBeLessThan(40 * MIB);
    await wait(200);
    expect(there.sentBytes).toBe(sent);

    client.resume();
    await until(() => got.length === 201);
    expect(there.sentBytes).toBe(100 * MIB);
  }, 20_000);
});

test('a browser\'s token comes as a subprotocol, which goes no further', async () => {
  const { client, there } = await session('model=voice', { headers: {}, protocols: ['realtime', `openai-insecure-api-key.${TOKEN}`] });

  expect(client.protocol).toBe('realtime');
  expect(there.asked.headers['sec-websocket-protocol']).toBe('realtime');
  expect(JSON.stringify(there.asked.rawHeaders)).not.toContain(TOKEN);
  expect(there.asked.headers.authorization).toBe(`Bearer ${RELAY_KEYS['main']!}`);
});

test('the handshake tells the client nothing of the upstream', async () => {
  const client = dial();
  const [response] = await once(client, 'upgrade') as [{ rawHeaders: string[] }];

  expect(leaks(response.rawHeaders)).toEqual([]);
  expect(response.rawHeaders.map((name) => name.toLowerCase())).toContain('x-request-id');
});

describe('a session ends', () => {
  test.each([[1000, 'done'], [4001, 'bye'], [3000, '']])('for the upstream as the client ended it: %d %s', async (code, reason) => {
    const { client, there, closed } = await session();
    client.close(code, reason);
    await closed;
    await until(() => there.closed !== undefined);

    expect(there.closed).toEqual({ code, reason });
  });

  test('for the client as the upstream ended it, without its identities', async () => {
    const { closed, say } = await session();
    say({ type: 'test.close', code: 4002, reason: `no more of ${UPSTREAM_MODELS.main} for org-UpstreamSecretOrganization` });

    expect(await closed).toEqual({ code: 4002, reason: 'no more of voice for ***' });
  });

  test('with an error and 1011 when the upstream is lost', async () => {
    const { got, closed, say } = await session();
    say({ type: 'test.die' });

    expect((await closed).code).toBe(1011);
    expect(JSON.parse(got.at(-1) as string)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } });
  });

  test('at the upstream too when the client vanishes', async () => {
    const { client, there } = await session();
    client.terminate();
    await until(() => there.closed !== undefined && settled.length === 1);

    expect(channels.all().map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
  });

  test('with 1009 for a message over the limit, which does not reach the upstream', async () => {
    const { client, there, closed } = await session();
    client.send(Buffer.alloc(SETTINGS.messageBytesMax + 1), { binary: true });

    expect((await closed).code).toBe(1009);
    await until(() => there.closed !== undefined);
    expect(there.messages).toEqual([]);
  });

  test('with an error and 1008 for too many messages', async () => {
    const { got, there, closed, say } = await session();
    for (let sent = 0; sent < 150; sent += 1) say({ type: 'x' });

    expect((await closed).code).toBe(1008);
    expect(JSON.parse(got.at(-1) as string)).toMatchObject({ type: 'error', error: { code: 'rate_limit_exceeded' } });
    expect(there.messages.length).toBeLessThanOrEqual(100);
  });

  test('when it has lasted as long as it may', async () => {
    const { got, closed } = await session();
    await clock.advance(SETTINGS.durationMaxMs);

    expect((await closed).code).toBe(1001);
    expect(JSON.parse(got.at(-1) as string)).toMatchObject({ type: 'error', error: { code: 'session_expired' } });
  });

  test('when the gateway stops, which waits for it', async () => {
    const { there, closed } = await session();
    await realtime.stop();

    expect((await closed).code).toBe(1001);
    expect(there.closed?.code).toBe(1001);
    expect(settled).toHaveLength(1);
    expect((await refusal()).status).toBe(503);
  });

  test('when the client no longer answers pings; one that answers stays', async () => {
    const [deaf, well] = [await session('model=voice', { autoPong: false }), await session()];
    await until(() => deaf.there.pings > 0 && well.there.pings > 0);
    await wait(50);
    await clock.advance(SETTINGS.pingMs);
    await wait(50);
    await clock.advance(SETTINGS.pingMs);
    await until(() => deaf.there.closed !== undefined);

    expect((await deaf.closed).code).toBe(1006);
    expect(well.client.readyState).toBe(WebSocket.OPEN);
  });
});

describe('the next channel is tried', () => {
  test.each([401, 403, 429, 500, 503])('when one refuses the handshake with %d', async (status) => {
    const { there } = await session(`model=voice&words=[main/status:${String(status)}]`);

    expect(upstream.sessions.map(({ asked }) => asked.channel)).toEqual(['main', 'spare']);
    expect(there.asked.query).toContain(UPSTREAM_MODELS.spare);
    expect(orders).toHaveLength(1);
  });

  test('but not when the request is at fault', async () => {
    const answer = await refusal('model=voice&words=[status:400]');

    expect(answer).toMatchObject({ status: 400, json: { error: { message: expect.stringContaining('Upstream trouble with voice') } } });
    expect(leaks([answer.text, answer.headers])).toEqual([]);
    expect(upstream.sessions).toHaveLength(1);
    expect(settled).toEqual([{ callId: orders[0]!.callId, charge: { basis: 'released' } }]);
  });

  test.each([[429, 429, '7'], [500, 500, '7'], [401, 503, '5']])('and when all refuse with %d, that is answered as %d', async (status, expected, retryAfter) => {
    const answer = await refusal(`model=voice&words=[status:${String(status)}]`);

    expect(answer).toMatchObject({ status: expected, headers: { 'retry-after': retryAfter } });
    expect(leaks([answer.text, answer.headers])).toEqual([]);
    expect(settled.map(({ charge }) => charge)).toEqual([{ basis: 'released' }]);
  });

  test('and a channel that is full is left alone', async () => {
    channels.replace([channel('main', { inFlightMax: 1 })]);
    await session();

    expect(await refusal()).toMatchObject({ status: 429, headers: { 'retry-after': '1' }, json: { error: { code: 'rate_limit_exceeded' } } });
  });
});

describe('money is held before the upstream is dialled, and settled once', () => {
  test('from the usage of all responses', async () => {
    const { client, got, closed, say } = await session();
    say(respond('[usage:11/7]'));
    say(respond('[usage:30/5]'));
    await until(() => got.filter((message) => String(message).includes('response.done')).length === 2);
    expect(settled).toEqual([]);
    client.close(1000);
    await closed;
    await until(() => settled.length > 0);
    await wait(20);

    expect(orders).toMatchObject([{ accountId: 'demo', tokenId: 'token', priceKeys: ['voice__realtime', 'voice'], bound: {} }]);
    expect(orders[0]!.lapsesAt).toBeGreaterThan(clock.now() + SETTINGS.durationMaxMs);
    expect(settled).toEqual([{ callId: orders[0]!.callId, charge: { basis: 'usage', usage: { inputTokens: 41, outputTokens: 12, cachedInputTokens: 0 } } }]);
  });

  test.each<[string, object, Charge['basis']]>([
    ['the upstream is lost in a response', respond('[never-done]'), 'estimate'],
    ['a response does not say what it used', respond('[no-usage]'), 'hold'],
  ])('by less when %s', async (_name, event, basis) => {
    const { got, say } = await session();
    say(event);
    await until(() => got.length > 5);
    say({ type: 'test.die' });
    await until(() => settled.length > 0);

    expect(settled).toMatchObject([{ charge: { basis } }]);
  });

  test('and given back when the client leaves before the upstream is there', async () => {
    const client = dial('model=voice&words=[slow:200]');
    await until(() => upstream.sessions.length === 1);
    client.terminate();
    await until(() => settled.length > 0);

    expect(settled.map(({ charge }) => charge)).toEqual([{ basis: 'released' }]);
  });
});

jest.setTimeout(20_000);
