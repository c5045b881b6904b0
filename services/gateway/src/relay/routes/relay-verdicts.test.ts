import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { FAULTS_TO_OPEN } from '@reelgate/platform/limits/circuit-breaker';
import { PROBE_EVERY_MS } from '@reelgate/platform/limits/probe-suspects';
import { until, untilAfter } from '@reelgate/platform/testing/until';
import { ServiceEventSchema } from '@reelgate/proto/access/v1/service_event';
import { describeWith } from '../../../../../test/servers/describe-with.ts';
import { redisServer } from '../../../../../test/servers/redis-server.ts';
import type { CheckedRelayChannel } from '../channels/relay-channel-config.ts';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import type { Answer } from '../../../testing/http-call.ts';
import { DELIVERED, json, startRelayUpstream } from '../../../testing/scripted-relay-upstream.ts';
import type { Reply } from '../../../testing/scripted-relay-upstream.ts';

const OTHER = 'rg_token-of-other';
const THIRD = 'rg_token-of-third';
const BAD = 'BAD';
const CALLS = 8;
const CIRCUITS_READ_MS = 5000;
/** The last part of a wait, which takes real time. */
const STEPS_MS = 100;
const GOOD = json(DELIVERED);
const ended: (() => Promise<void>)[] = [];
let channels = 0;

afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

/** Gateways with one channel, whose upstream answers a request with the word as `bad` says. */
async function open(
  bad: Reply,
  {
    redis,
    gateways = 1,
    limits,
  }: { readonly redis?: string; readonly gateways?: number; readonly limits?: CheckedRelayChannel['limits'] } = {},
) {
  const upstream = await startRelayUpstream();
  ended.push(() => upstream.stop());
  upstream.reply = (request, response) => (request.body.includes(BAD) ? bad : GOOD)(request, response);
  const id = `channel-${(channels += 1)}`;
  const settings = {
    channels: [aRelayChannel({ id, base_url: upstream.url, ...(limits === undefined ? {} : { limits }) })],
    ...(redis === undefined ? {} : { redis }),
  };
  const started: GatewayUnderTest[] = [];
  const told: string[] = [];
  for (let one = 0; one < gateways; one += 1) {
    const gateway = await startGatewayUnderTest(settings);
    ended.push(() => gateway.stop());
    gateway.billing.tokens.set(OTHER, { accountId: 'other' });
    gateway.billing.tokens.set(THIRD, { accountId: 'third' });
    await gateway.bus.subscribe(ServiceEventSchema, 'test', async ({ type }) => void told.push(type));
    started.push(gateway);
  }
  let turn = 0;
  const post = (word: string, token?: string, path = '/v1/chat/completions'): Promise<Answer> => {
    const body = { model: 'some-model', messages: [{ role: 'user', content: word }] };
    return call(started[(turn += 1) % started.length]!.url, 'POST', path, {
      body,
      ...(token === undefined ? {} : { token }),
    });
  };
  /** Lets the probes run and tells what has opened. */
  const pass = async (): Promise<readonly string[]> => {
    for (const { clock } of started) await clock.advance(PROBE_EVERY_MS);
    await new Promise((resolve) => setImmediate(resolve));
    for (const { clock } of started) await clock.advance(CIRCUITS_READ_MS);
    return told;
  };
  const untilTold = (times: number): Promise<void> => untilAfter(started[0]!.clock, () => told.length >= times);
  const untilProbed = async (times: number): Promise<void> => {
    const [{ clock }] = started as [GatewayUnderTest];
    for (let before = upstream.probes.length; before < times; before = upstream.probes.length) {
      await clock.advance(PROBE_EVERY_MS - STEPS_MS);
      await untilAfter(clock, () => upstream.probes.length > before);
    }
  };
  return { upstream, post, pass, told, untilTold, untilProbed };
}

/** Answers no request before each of the calls has arrived or was refused, so that none profits from another's end. */
async function postTogether({ upstream, post }: Awaited<ReturnType<typeof open>>): Promise<number[]> {
  const held: ServerResponse[] = [];
  let refused = 0;
  upstream.reply = (_request, response) => void held.push(response);
  const calls = Array.from({ length: CALLS }, async () => {
    const { status } = await post('good');
    if (status !== 200) refused += 1;
    return status;
  });
  await until(() => held.length + refused === CALLS);
  for (const response of held)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(DELIVERED));
  return Promise.all(calls);
}

/** What one account can be answered with, and what it then gets. */
const ROWS: readonly (readonly [string, Reply, number, string])[] = [
  ['a redirect', json({}, 307, { location: 'https://elsewhere.example' }), 400, 'upstream_refused'],
  ['a redirect for good', json({}, 308, { location: '/v1' }), 400, 'upstream_refused'],
  [
    'a refusal of content by a moderation',
    json(
      { error: { code: 403, message: 'stopped', metadata: { reasons: ['violence'], provider_name: 'SomeHost' } } },
      403,
    ),
    422,
    'content_rejected',
  ],
  [
    'a refusal of content by a filter',
    json({ error: { code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } } }, 403),
    422,
    'content_rejected',
  ],
  [
    'a refusal of content in words',
    json({ error: 'Content violates usage guidelines.' }, 403),
    422,
    'content_rejected',
  ],
  [
    'a refusal of content with a status of a fault',
    json({ error: { code: 'moderation_blocked' } }, 500),
    422,
    'content_rejected',
  ],
  ['a refusal of the key', json({ error: { message: 'no' } }, 403), 503, 'no_channel_available'],
  ['a missing payment', json({ error: { message: 'fewer max_tokens' } }, 402), 503, 'no_channel_available'],
  ['a fault', json({ error: { code: 'server_error', message: 'bad schema' } }, 500), 500, 'server_error'],
  [
    'a page',
    (_request, response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<p>'),
    502,
    'upstream_failed',
  ],
  ['a reset', (_request, response) => void response.destroy(), 502, 'upstream_failed'],
];

describe.each(ROWS)('one account whose requests meet %s', (_what, bad, status, code) => {
  test('gets the reason, and no call of another account is refused', async () => {
    const under = await open(bad);
    for (let fault = 0; fault < FAULTS_TO_OPEN; fault += 1)
      expect(await under.post(BAD, OTHER)).toMatchObject({ status, json: { error: { code } } });
    for (let fault = 0; fault < 2 * FAULTS_TO_OPEN; fault += 1) await under.post(BAD, OTHER);

    expect(await under.pass()).toEqual([]);
    expect(await postTogether(under)).toEqual(Array.from({ length: CALLS }, () => 200));
  });
});

test('a refusal of content names its reasons and hides the provider', async () => {
  const metadata = {
    reasons: ['violence'],
    flagged_input: 'me',
    provider_name: 'SomeHost',
    model_slug: 'upstream-model',
  };
  const { post } = await open(
    json({ error: { code: 403, message: 'stopped by https://host.example', metadata } }, 403),
  );

  const { text, headers, json: body } = await post(BAD);

  expect(body.error.message).toBe('the upstream refused the content of this request (violence): stopped by ***');
  expect(text).not.toMatch(/SomeHost|upstream-model|host\.example/);
  expect(headers['retry-after']).toBeUndefined();
});

describe('an upstream that is down', () => {
  const DOWN = json({ error: { message: 'down' } }, 500);
  test('is found out by the faults of two accounts', async () => {
    const { post, pass } = await open(DOWN);
    for (let fault = 0; fault < 3; fault += 1) {
      await post(BAD);
      await post(BAD, OTHER);
    }

    expect(await pass()).toEqual(['circuit_opened']);
  });
  test.each<[string, Reply]>([
    ['fails', DOWN],
    ['refuses the key', json({ error: {} }, 401)],
  ])('and that one account alone uses is found out by a probe that %s', async (_what, reply) => {
    const { upstream, post, told, untilTold, untilProbed } = await open(reply);
    await post('good');
    await untilProbed(1);
    upstream.replyToProbe = reply;
    for (let fault = 0; fault < FAULTS_TO_OPEN; fault += 1) await post(BAD);

    await untilTold(1);
    expect(told).toEqual(['circuit_opened']);
  });
  test.each<[string, string, Reply]>([
    ['fails, before a call has worked', 'before', DOWN],
    ['refuses the key, before a call has worked', 'before', json({ error: {} }, 401)],
    ['fails, after calls have worked', 'after', DOWN],
    ['refuses the key, after calls have worked', 'after', json({ error: {} }, 401)],
  ])('for one account is open to others if its list always %s', async (_what, when, reply) => {
    const under = await open(DOWN);
    under.upstream.replyToProbe = reply;
    if (when === 'after') {
      await under.post('good', OTHER);
      await under.untilProbed(1);
    }
    for (let fault = 0; fault < FAULTS_TO_OPEN; fault += 1) await under.post(BAD);
    await under.untilProbed(2);

    expect(await under.pass()).toEqual([]);
    expect((await under.post('good', OTHER)).status).toBe(200);
  });
  test('is left alone by the account that met its faults, whatever the probe says', async () => {
    const { upstream, post } = await open(DOWN);
    for (let fault = 0; fault < FAULTS_TO_OPEN; fault += 1) await post(BAD);
    upstream.seen.length = 0;
    upstream.reply = (_request, response) => void setTimeout(() => DOWN(upstream.seen[0]!, response), 200);

    const statuses = (await Promise.all(Array.from({ length: CALLS }, () => post(BAD)))).map(({ status }) => status);

    expect([statuses.filter((one) => one === 503).length, upstream.seen.length]).toEqual([CALLS - 1, 1]);
  });
  test('takes further calls of an account if it refused a request between the faults', async () => {
    const { upstream, post } = await open(DOWN);
    const { reply } = upstream;
    for (let fault = 1; fault < FAULTS_TO_OPEN; fault += 1) await post(BAD);
    upstream.reply = json({ error: { message: 'a wrong request' } }, 400);
    await post(BAD);
    upstream.reply = reply;
    await post(BAD);

    const answers = await Promise.all(Array.from({ length: CALLS }, () => post('good')));

    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: CALLS }, () => 200));
  });
  test('takes the calls of all accounts again after the call of any account works', async () => {
    const under = await open(DOWN);
    for (const token of [undefined, OTHER, undefined, OTHER, THIRD]) await under.post(BAD, token);
    expect(await under.pass()).toEqual(['circuit_opened']);

    // the trial of one account fails for its input
    await under.post(BAD, OTHER);
    expect((await under.post('good', THIRD)).status).toBe(200);

    expect(await postTogether(under)).toEqual(Array.from({ length: CALLS }, () => 200));
  });
});

test('one account that fills a channel leaves the calls that end to another that was refused', async () => {
  const { upstream, post } = await open(GOOD, { limits: { requests_per_minute: 1000, in_flight: 4 } });
  const held: ServerResponse[] = [];
  upstream.reply = (_request, response) => void held.push(response);
  const answer = (): void =>
    void held.shift()?.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(DELIVERED));
  const running = Array.from({ length: 4 }, () => post('good', OTHER));
  await until(() => held.length === 4);
  expect((await post('good')).status).toBe(429);

  answer();
  await running[0];
  expect((await post('good', OTHER)).status).toBe(429);
  const mine = post('good');
  await until(() => held.length === 4);

  while (held.length > 0) answer();
  expect((await mine).status).toBe(200);
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

describe('a route and its upstream see one path', () => {
  test.each([
    ['/v1/chat/completions/', '/v1/chat/completions'],
    ['/v1beta/models/some-model:generateContent/', '/v1beta/models/upstream-model-2026:generateContent'],
    ['/v1beta/models/some%2Dmodel:generateContent', '/v1beta/models/upstream-model-2026:generateContent'],
  ])('%s', async (written, sent) => {
    const { upstream, post } = await open(GOOD);

    expect((await post('good', undefined, written)).status).toBe(200);
    expect(upstream.seen.map(({ url }) => url)).toEqual([sent]);
  });
  test.each(['//v1/chat/completions', '/v1//chat/completions', '/v1/chat/completions//', '/V1/chat/completions'])(
    '%s is no route',
    async (written) => {
      const { upstream, post } = await open(GOOD);

      expect((await post('good', undefined, written)).status).toBe(404);
      expect(upstream.seen).toEqual([]);
    },
  );
});

describeWith(redisServer, 'two gateways that share their circuits', (redis) => {
  test.each(ROWS)('one account whose requests meet %s stops no call of another', async (_what, bad) => {
    const under = await open(bad, { redis: redis(), gateways: 2 });
    for (let fault = 0; fault < 3 * FAULTS_TO_OPEN; fault += 1) await under.post(BAD, OTHER);

    expect(await postTogether(under)).toEqual(Array.from({ length: CALLS }, () => 200));
  });
  test('the faults of two accounts open the circuit at both', async () => {
    const under = await open(json({}, 500), { redis: redis(), gateways: 2 });
    for (const token of [undefined, undefined, OTHER, OTHER, undefined, undefined, OTHER, OTHER])
      await under.post(BAD, token);

    expect(await under.pass()).toEqual(['circuit_opened', 'circuit_opened']);
  });
});
