import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { UPSTREAM_MODELS } from '../../../../../test/harness/relay-upstream/identities.ts';
import { Problem } from '@reelgate/platform/problem';
import { leaks, OTHER_TOKEN, REALTIME_SETTINGS, startRealtimeUnderTest } from '../../../testing/realtime-under-test.ts';
import { until } from '@reelgate/platform/testing/until';
import type { RealtimeUnderTest } from '../../../testing/realtime-under-test.ts';
import type { CallCharge } from '../../domain/call-order.ts';

const MIB = 2 ** 20;
/** Nothing more is sent once this time passes without a byte. */
const QUIET_MS = 300;

let under: RealtimeUnderTest;

beforeEach(async () => {
  under = await startRealtimeUnderTest();
});

afterEach(async () => {
  await under.stop();
});

const respond = (instructions: string): object => ({ type: 'response.create', response: { instructions } });

describe('messages', () => {
  test('pass unchanged in both directions, text as text and bytes as bytes', async () => {
    const { client, got, there } = await under.session();
    const texts = [
      '{ "type":"x", "n": 1.0 , "s":"\u2028 🐢 \\u00e9" }',
      '{"type":"conversation.item.create","item":{"text":"\\"model\\":\\"voice\\""}}',
    ];
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 256));
    for (const text of texts) client.send(text);
    client.send(bytes, { binary: true });
    await until(() => got.length === 4);

    expect(there.messages).toEqual([...texts, bytes]);
    expect(got.slice(1)).toEqual([...texts, bytes]);
  });

  test('name the model as each side calls it', async () => {
    const { got, there, say } = await under.session('model=voice&x=%41');
    say({ type: 'session.update', session: { model: 'voice', instructions: 'you are voice' } });
    await until(() => got.length === 2);

    expect(there.asked.query).toBe(`?model=${UPSTREAM_MODELS.main}&x=%41`);
    expect(JSON.parse(got[0] as string)).toMatchObject({ type: 'session.created', session: { model: 'voice' } });
    expect(there.messages).toEqual([
      JSON.stringify({
        type: 'session.update',
        session: { model: UPSTREAM_MODELS.main, instructions: 'you are voice' },
      }),
    ]);
    expect(JSON.parse(got[1] as string)).toMatchObject({ session: { model: 'voice', instructions: 'you are voice' } });
  });

  test('about errors reveal nothing about the upstream', async () => {
    const { got, say } = await under.session();
    say({ type: 'test.error' });
    say(respond('[failed]'));
    await until(() => got.some((message) => String(message).includes('response.done')));

    expect(got.filter((message) => String(message).includes('Upstream trouble with voice'))).toHaveLength(2);
    expect(leaks(got.slice(1))).toEqual([]);
  });

  test('for a client that does not read wait at the upstream, not in the gateway', async () => {
    const { client, got, there, say } = await under.session();
    client.pause();
    say({ type: 'test.flood', count: 200, bytes: MIB / 2 });
    let sent = -1;
    await until(async () => {
      const before = sent;
      sent = there.sentBytes;
      await wait(QUIET_MS);
      return sent > 0 && sent === before;
    });
    expect(sent).toBeLessThan(40 * MIB);

    client.resume();
    await until(() => got.length === 201);
    expect(there.sentBytes).toBe(100 * MIB);
  }, 120_000);
});

describe('a session ends', () => {
  test.each([
    [1000, 'done'],
    [4001, 'bye'],
    [3000, ''],
  ])('for the upstream as the client ended it: %d %s', async (code, reason) => {
    const { client, there, closed } = await under.session();
    client.close(code, reason);
    await closed;
    await until(() => there.closed !== undefined);

    expect(there.closed).toEqual({ code, reason });
  });

  test('for the client as the upstream ended it, without its identities', async () => {
    const { closed, say } = await under.session();
    say({
      type: 'test.close',
      code: 4002,
      reason: `no more of ${UPSTREAM_MODELS.main} for org-UpstreamSecretOrganization`,
    });

    expect(await closed).toEqual({ code: 4002, reason: 'no more of voice for ***' });
  });

  test('with an error and 1011 when the connection to the upstream is lost', async () => {
    const { got, closed, say } = await under.session();
    say({ type: 'test.die' });

    expect((await closed).code).toBe(1011);
    expect(JSON.parse(got.at(-1) as string)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } });
  });

  test('at the upstream too when the client vanishes', async () => {
    const { client, there } = await under.session();
    client.terminate();
    await until(() => there.closed !== undefined && under.settled.length === 1);

    expect(under.channels.all().map(({ permits }) => permits.inUse())).toEqual([0, 0, 0]);
  });

  test('with 1009 for a message over the limit, which does not reach the upstream', async () => {
    const { client, there, closed } = await under.session();
    client.send(Buffer.alloc(REALTIME_SETTINGS.messageBytesMax + 1), { binary: true });

    expect((await closed).code).toBe(1009);
    await until(() => there.closed !== undefined);
    expect(there.messages).toEqual([]);
  });

  test('with an error and 1008 for too many messages', async () => {
    const { got, there, closed, say } = await under.session();
    for (let sent = 0; sent < 150; sent += 1) say({ type: 'x' });

    expect((await closed).code).toBe(1008);
    expect(JSON.parse(got.at(-1) as string)).toMatchObject({ type: 'error', error: { code: 'rate_limit_exceeded' } });
    expect(there.messages.length).toBeLessThanOrEqual(100);
  });

  test('when it reaches its longest duration', async () => {
    const { got, closed, there } = await under.session();
    await until(() => there.pings > 0);
    await wait(50);
    await under.clock.advance(REALTIME_SETTINGS.durationMaxMs);

    expect((await closed).code).toBe(1001);
    expect(JSON.parse(got.at(-1) as string)).toMatchObject({ type: 'error', error: { code: 'session_expired' } });
  });

  test('when the gateway stops, which waits for it', async () => {
    const { there, closed } = await under.session();
    await under.realtime.stop();

    expect((await closed).code).toBe(1012);
    expect(there.closed?.code).toBe(1012);
    expect(under.settled).toHaveLength(1);
    expect((await under.refusal()).status).toBe(503);
  });

  test.each([
    ['forbidden', 'token_disabled'],
    ['unauthenticated', 'invalid_api_key'],
  ] as const)('when its token is refused as %s, and not while the answer is unknown', async (kind, reason) => {
    const { got, closed, there, client } = await under.session();
    under.refuseToken(new Problem({ kind: 'unavailable', reason: 'internal_error', message: 'billing is away' }));
    for (let check = 0; check < 4; check += 1) await under.clock.advance(2000);
    await wait(50);
    expect(client.readyState).toBe(WebSocket.OPEN);

    under.refuseToken(new Problem({ kind, reason, message: 'no longer' }));
    await under.clock.advance(2000);
    await until(() => there.closed !== undefined);
    expect((await closed).code).toBe(1008);
    expect(JSON.parse(got.at(-1) as string)).toMatchObject({ type: 'error', error: { code: reason } });
  });

  test('when the client no longer answers pings; one that answers stays', async () => {
    const [deaf, well] = [await under.session('model=voice', { autoPong: false }), await under.session()];
    await until(() => deaf.there.pings > 0 && well.there.pings > 0);
    await wait(50);
    await under.clock.advance(REALTIME_SETTINGS.pingMs);
    await wait(50);
    await under.clock.advance(REALTIME_SETTINGS.pingMs);
    await until(() => deaf.there.closed !== undefined);

    expect((await deaf.closed).code).toBe(1006);
    expect(well.client.readyState).toBe(WebSocket.OPEN);
  });
});

test('a token has a bounded number of sessions; an ended session frees one; another token has its own', async () => {
  const [one] = [await under.session(), await under.session()];
  const { status, headers, json } = await under.refusal();

  expect([status, headers['retry-after'], json.error.code]).toEqual([429, '1', 'rate_limit_exceeded']);
  expect(under.orders).toHaveLength(2);
  await under.session(undefined, { headers: { authorization: `Bearer ${OTHER_TOKEN}` } });
  expect((await under.refusal(undefined, { headers: { authorization: `Bearer ${OTHER_TOKEN}` } })).status).toBe(503);
  one.client.close();
  await one.closed;
  await until(() => under.settled.length === 1);
  await under.session();
});

describe('money is held before the upstream is dialled, and settled once', () => {
  test('from the usage of all responses', async () => {
    const { client, got, closed, say } = await under.session();
    say(respond('[usage:11/7]'));
    say(respond('[usage:30/5]'));
    await until(() => got.filter((message) => String(message).includes('response.done')).length === 2);
    expect(under.settled).toEqual([]);
    client.close(1000);
    await closed;
    await until(() => under.settled.length > 0);
    await wait(20);

    expect(under.orders).toMatchObject([
      { accountId: 'demo', tokenId: 'token', priceKeys: ['voice__realtime', 'voice'], facts: {} },
    ]);
    expect(under.orders[0]!.lapsesAt).toBeGreaterThan(under.clock.now() + REALTIME_SETTINGS.durationMaxMs);
    expect(under.settled).toEqual([
      {
        callId: under.orders[0]!.callId,
        charge: { basis: 'usage', usage: { inputTokens: 41, outputTokens: 12, cachedInputTokens: 0 } },
        channel: 'relay-secret-main',
      },
    ]);
  });

  test.each<[string, object, CallCharge['basis']]>([
    ['the upstream is lost in a response', respond('[never-done]'), 'estimate'],
    ['a response reports no usage', respond('[no-usage]'), 'hold'],
  ])('without its usage when %s', async (_name, event, basis) => {
    const { got, say } = await under.session();
    say(event);
    await until(() => got.length > 5);
    say({ type: 'test.die' });
    await until(() => under.settled.length > 0);

    expect(under.settled).toMatchObject([{ charge: { basis } }]);
  });

  test('and released when the client leaves before an upstream is open', async () => {
    const client = under.dial('model=voice&words=[slow:200]');
    await until(() => under.upstream.sessions.length === 1);
    client.terminate();
    await until(() => under.settled.length > 0);

    expect(under.settled.map(({ charge }) => charge)).toEqual([{ basis: 'released' }]);
  });
});
