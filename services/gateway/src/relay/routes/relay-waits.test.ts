import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import type { Bus } from '@reelgate/platform/bus/bus';
import { systemClock } from '@reelgate/platform/clock';
import { silentLog } from '@reelgate/platform/log';
import { until } from '@reelgate/platform/testing/until';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import type { Answer } from '../../../testing/http-call.ts';
import { DELIVERED, json, startRelayUpstream } from '../../../testing/scripted-relay-upstream.ts';
import type { RelayUpstream } from '../../../testing/scripted-relay-upstream.ts';

let bus: Bus;
let upstream: RelayUpstream;
const gateways: GatewayUnderTest[] = [];

beforeEach(async () => {
  bus = newLocalBus(systemClock, silentLog);
  upstream = await startRelayUpstream();
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
  await upstream.stop();
  await bus.close();
});

async function start(...more: readonly object[]): Promise<GatewayUnderTest> {
  const channels = [aRelayChannel({ base_url: upstream.url }), ...more.map((one) => aRelayChannel(one))];
  const gateway = await startGatewayUnderTest({ channels, bus });
  gateways.push(gateway);
  return gateway;
}

const post = ({ url }: GatewayUnderTest, at = '/v1/chat/completions'): Promise<Answer> =>
  call(url, 'POST', at, { body: { model: 'some-model', messages: [] } });
const throttled = (headers: Record<string, string>, status = 429, more: object = {}) =>
  json({ error: { message: 'slow down', ...more } }, status, headers);

test.each([
  ['Retry-After', throttled({ 'retry-after': '4' }), 4000],
  ['retry-after-ms', throttled({ 'retry-after-ms': '2500' }), 2500],
  ['the end of a limit that is used up', throttled({ 'x-ratelimit-reset-requests': '6s' }), 6000],
  ['a 503', throttled({ 'retry-after': '9' }, 503), 9000],
  ['a field of Google', throttled({}, 429, { details: [{ retryDelay: '3s' }] }), 3000],
])('a channel gets no call for as long as its upstream asks by %s', async (_by, reply, ms) => {
  const gateway = await start();
  upstream.reply = reply;
  await post(gateway);
  upstream.reply = json(DELIVERED);

  await gateway.clock.advance(ms - 500);
  const early = await post(gateway, '/v1/embeddings');
  expect([early.status, early.headers['retry-after'], upstream.seen.length]).toEqual([429, '1', 1]);
  await gateway.clock.advance(500);
  expect([(await post(gateway)).status, upstream.seen.length]).toEqual([200, 2]);
});

const TOO_LARGE =
  'Request too large for gpt in organization org-x on tokens per min (TPM): Limit 30000, Requested 50000. Reduce it.';
test.each([
  ['in words', 'Request too large for this model'],
  ['in words and numbers', TOO_LARGE],
  ['in numbers', 'tokens per min (TPM): Limit 30,000, Requested 50,000'],
])(
  'a 429 that refuses the size of one request %s stops no other call and no other channel tries it',
  async (_how, message) => {
    const other = await startRelayUpstream();
    const gateway = await start({ id: 'other', base_url: other.url, priority: -1 });
    upstream.reply = json({ error: { message, code: 'rate_limit_exceeded' } }, 429, { 'retry-after': '30' });
    const refused = await post(gateway);
    upstream.reply = json(DELIVERED);

    expect([refused.status, refused.headers['retry-after']]).toEqual([400, undefined]);
    expect(refused.json.error).toMatchObject({
      code: 'upstream_refused',
      message: expect.stringContaining('the size of this request'),
    });
    expect([(await post(gateway)).status, upstream.seen.length, other.seen.length]).toEqual([200, 2, 0]);
    await other.stop();
  },
);
test('a 429 with numbers whose request is not above the limit holds the channel', async () => {
  const gateway = await start();
  const message =
    'Rate limit reached on tokens per min (TPM): Limit 10000, Used 9500, Requested 700. Please try again in 1.2s';
  upstream.reply = json({ error: { message } }, 429, { 'retry-after': '30' });

  expect([(await post(gateway)).status, (await post(gateway)).status, upstream.seen.length]).toEqual([429, 429, 1]);
});

test('another channel gets the calls meanwhile', async () => {
  const other = await startRelayUpstream();
  const gateway = await start({ id: 'other', base_url: other.url, priority: -1 });
  upstream.reply = throttled({ 'retry-after': '30' });

  const answers = [await post(gateway), await post(gateway), await post(gateway)];

  expect([answers.map(({ status }) => status), upstream.seen.length]).toEqual([[200, 200, 200], 1]);
  await other.stop();
});

test('a fault of a request asks for no wait, whatever its headers say', async () => {
  const gateway = await start();
  upstream.reply = throttled({ 'retry-after': '30', 'x-ratelimit-reset': '30' }, 400);

  await post(gateway);
  await post(gateway);

  expect(upstream.seen).toHaveLength(2);
});

test('other replicas obey the wait too', async () => {
  const [one, other] = [await start(), await start()];
  upstream.reply = throttled({ 'retry-after': '4' });
  await post(one);
  upstream.reply = json(DELIVERED);

  await until(async () => (await post(other)).status === 429);
});
