import { beforeEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { until } from '@reelgate/platform/testing/until';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { call } from '../../../testing/http-call.ts';
import type { Answer } from '../../../testing/http-call.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';
import { DELIVERED, events, json } from '../../../testing/scripted-relay-upstream.ts';
import type { Reply } from '../../../testing/scripted-relay-upstream.ts';

const relay = withRelay();
const chat = { model: 'some-model', messages: [], max_tokens: 10 };
const PLENTY = 1_000_000_000_000n;
const FAULTS_OF_A_CIRCUIT = 5;
const NO_MONEY = new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'not enough' });
const AWAY = new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'billing is away' });
const EVENT = 'data: {"model":"upstream-model-2026","choices":[]}\n\n';
const GOOD = json({ ...DELIVERED, model: 'upstream-model-2026', usage: { prompt_tokens: 1, completion_tokens: 1 } });
const hangs: Reply = () => undefined;
const begins: Reply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENT);
};

const calls = () => relay().gateway.calls;
const post = (body: unknown = chat, path = '/v1/chat/completions'): Promise<Answer> =>
  call(relay().gateway.url, 'POST', path, { body });
const seen = (): number[] => relay().upstreams.map((upstream) => upstream.seen.length);
/** Takes longer than the gateway needs for what it can do at once. */
const anotherCall = (): Promise<Answer> => call(relay().gateway.url, 'GET', '/v1/models');

/** Billing that answers when the test says so. */
function slowBilling(): PromiseWithResolvers<undefined> {
  const answering = Promise.withResolvers<undefined>();
  calls().reserving = () => answering.promise;
  return answering;
}

/** A call, and what the client has seen of its answer. */
function sent(body: unknown = chat): { readonly answer: Promise<Answer>; readonly seen: () => Answer | undefined } {
  let shown: Answer | undefined;
  return { answer: post(body).then((one) => (shown = one)), seen: () => shown };
}

/** The gateway has seen that the account can hold such a call many times. */
beforeEach(async () => {
  calls().left = PLENTY;
  await post();
  await relay().gateway.settled(1);
  for (const list of [calls().placed, calls().settled]) list.length = 0;
  for (const upstream of relay().upstreams) upstream.seen.length = 0;
});

describe('a call of an account with plenty of money', () => {
  test.each<[string, Reply]>([
    ['JSON', GOOD],
    ['a stream', events([EVENT, 'data: [DONE]\n\n'])],
    ['an error', json({ error: { message: 'no', type: 't', code: 'c', param: null } }, 400)],
  ])('is sent while billing takes its hold, and its client sees nothing of %s before', async (_what, reply) => {
    relay().first.reply = reply;
    const billing = slowBilling();
    const { answer, seen: shown } = sent();
    await until(() => seen()[0] === 1);
    await anotherCall();

    expect(shown()).toBeUndefined();
    billing.resolve(undefined);
    const whole = await answer;
    calls().reserving = undefined;
    const again = await post();
    expect([whole.status, whole.text]).toEqual([again.status, again.text]);
  });

  test('waits for its upstream if billing is faster', async () => {
    const replying = Promise.withResolvers<() => void>();
    relay().first.reply = (request, response) => replying.resolve(() => GOOD(request, response));
    const { answer, seen: shown } = sent();
    const reply = await replying.promise;
    await until(() => calls().placed.length === 1);
    await anotherCall();

    expect(shown()).toBeUndefined();
    reply();
    expect((await answer).status).toBe(200);
  });

  test('waits for the disk too', async () => {
    const written = Promise.withResolvers<undefined>();
    calls().confirming = () => written.promise;
    relay().first.reply = GOOD;
    const { answer, seen: shown } = sent();
    await until(() => seen()[0] === 1);
    await anotherCall();

    expect(shown()).toBeUndefined();
    written.resolve(undefined);
    expect((await answer).status).toBe(200);
  });

  test('is held once, however many channels it tries meanwhile', async () => {
    relay().first.reply = json({}, 500);
    relay().second.reply = GOOD;
    const billing = slowBilling();
    const { answer } = sent();
    await until(() => seen()[1] === 1);
    billing.resolve(undefined);

    expect((await answer).status).toBe(200);
    expect(calls().placed).toHaveLength(1);
    await relay().gateway.settled(1);
    expect(calls().settled).toMatchObject([{ basis: Basis.USAGE, channel: 'channel-two' }]);
  });
});

describe('if billing then refuses the hold', () => {
  test.each<[string, Reply]>([
    ['that has not answered', hangs],
    ['that has begun to answer', begins],
    ['that has answered', GOOD],
  ])('the client gets the refusal, an upstream %s is left, and nothing is charged', async (_what, reply) => {
    const left = relay().first.left();
    relay().first.reply = reply;
    const billing = slowBilling();
    const { answer } = sent();
    await until(() => seen()[0] === 1);
    await anotherCall();
    calls().refusal = NO_MONEY;
    billing.resolve(undefined);
    const { status, json: refusal } = await answer;

    expect([status, refusal.error.code]).toEqual([429, 'insufficient_quota']);
    await until(() => reply === GOOD || relay().first.left() > left);
    await relay().gateway.clock.advance(60_000);
    expect([calls().settled, seen()]).toEqual([[], [1, 0]]);
  });

  test('the operator can count it, and no channel is blamed', async () => {
    relay().first.reply = hangs;
    const before = await refusedBeside();
    for (let round = 0; round < FAULTS_OF_A_CIRCUIT; round += 1) {
      calls().refusal = undefined;
      relay().first.reply = GOOD;
      await post();
      relay().first.reply = hangs;
      const billing = slowBilling();
      const { answer } = sent();
      await until(() => seen()[0] === 2 * round + 2);
      calls().refusal = NO_MONEY;
      billing.resolve(undefined);
      await answer;
      calls().reserving = undefined;
    }
    expect((await refusedBeside()) - before).toBe(FAULTS_OF_A_CIRCUIT);

    calls().refusal = undefined;
    relay().first.reply = GOOD;
    expect((await post()).status).toBe(200);
    expect(seen()).toEqual([2 * FAULTS_OF_A_CIRCUIT + 1, 0]);
  });

  test('the next call is not sent before its hold, and no upstream sees it', async () => {
    const billing = slowBilling();
    const { answer } = sent();
    await until(() => seen()[0] === 1);
    calls().refusal = NO_MONEY;
    billing.resolve(undefined);
    await answer;

    expect((await post()).status).toBe(429);
    expect(seen()).toEqual([1, 0]);
  });
});

test('if billing dies meanwhile, the client is refused, the upstream is left, and the call is released', async () => {
  const left = relay().first.left();
  relay().first.reply = begins;
  const billing = slowBilling();
  const { answer } = sent();
  await until(() => seen()[0] === 1);
  billing.reject(AWAY);

  expect((await answer).status).toBe(503);
  await until(() => relay().first.left() > left);
  await relay().gateway.settled(1);
  expect(calls().settled).toMatchObject([{ basis: Basis.RELEASED }]);
});

test('a client that leaves while billing takes the hold cancels the work, and the call is settled once', async () => {
  const left = relay().first.left();
  relay().first.reply = begins;
  const billing = slowBilling();
  const over = new AbortController();
  const gone = fetch(`${relay().gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer rg_token-of-demo', 'content-type': 'application/json' },
    body: JSON.stringify(chat),
    signal: over.signal,
  }).catch(() => undefined);
  await until(() => seen()[0] === 1);
  over.abort();
  await gone;
  await until(() => relay().first.left() > left);
  billing.resolve(undefined);
  await relay().gateway.settled(1);

  expect(calls().settled).toHaveLength(1);
  expect(calls().placed).toHaveLength(1);
});

describe('a call is sent after its hold', () => {
  test.each<[string, () => Promise<unknown>, unknown?]>([
    ['if its account is near its limit', () => known({ left: 99n })],
    ['if its hold can be large', () => known({ held: PLENTY / 1000n })],
    ['if no call of its size is known', async () => undefined, { ...chat, max_tokens: 1000 }],
    ['if the figures are old', () => relay().gateway.clock.advance(20_000)],
  ])('%s', async (_when, prepare, body = chat) => {
    await prepare();
    const before = seen()[0];
    const billing = slowBilling();
    const { answer } = sent(body);
    const placed = calls().placed.length;
    await until(() => calls().placed.length > placed);
    await anotherCall();

    expect(seen()[0]).toBe(before);
    billing.resolve(undefined);
    expect((await answer).status).toBe(200);
  });

  test('if it is asynchronous', async () => {
    const { json: created } = await post(chat, '/async/v1/chat/completions');
    await until(() => seen()[0] === 1);
    relay().first.reply = GOOD;
    const billing = slowBilling();
    const { answer } = { answer: post(chat, '/async/v1/chat/completions') };
    await until(() => calls().placed.length > 2);
    await anotherCall();

    expect([typeof created.id, seen()[0]]).toEqual(['string', 1]);
    billing.resolve(undefined);
    expect((await answer).status).toBe(202);
    await until(() => seen()[0] === 2);
  });

  const known = async (figures: { readonly left?: bigint; readonly held?: bigint }): Promise<void> => {
    Object.assign(calls(), figures);
    await post();
  };
});

async function refusedBeside(): Promise<number> {
  const { text } = await call(relay().gateway.url, 'GET', '/metrics');
  return Number(/^reelgate_relay_refused_beside_total\{endpoint="chat"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}
