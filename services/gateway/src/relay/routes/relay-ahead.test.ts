import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { until } from '@reelgate/platform/testing/until';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { TOKEN } from '../../../testing/fake-services.ts';
import { call } from '../../../testing/http-call.ts';
import type { Answer } from '../../../testing/http-call.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';
import { DELIVERED, events, json } from '../../../testing/scripted-relay-upstream.ts';
import type { Reply } from '../../../testing/scripted-relay-upstream.ts';

const relay = withRelay();
const chat = { model: 'some-model', messages: [] };
const EVENT = 'data: {"model":"upstream-model-2026","choices":[]}\n\n';
const STUCK = new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'the disk is gone' });
const SOUND_BYTES = 64 * 1024 * 1024;

const ANSWERS: Readonly<Record<string, Reply>> = {
  JSON: json({ ...DELIVERED, model: 'upstream-model-2026', usage: { prompt_tokens: 1, completion_tokens: 1 } }),
  'a stream': events([EVENT, EVENT, 'data: [DONE]\n\n']),
  'an error': json({ error: { message: 'no', type: 't', code: 'c', param: null } }, 400),
  sound: (_request, response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.alloc(100_000, 7));
  },
};

/** Billing that reserves at once, and writes the hold when the test says so. */
function slowBilling(): PromiseWithResolvers<undefined> {
  const written = Promise.withResolvers<undefined>();
  relay().gateway.calls.confirming = () => written.promise;
  return written;
}

/** A call, and what the client has seen of its answer. */
function sent(): { readonly answer: Promise<Answer>; readonly seen: () => Answer | undefined } {
  let seen: Answer | undefined;
  const answer = call(relay().gateway.url, 'POST', '/v1/chat/completions', { body: chat }).then((one) => (seen = one));
  return { answer, seen: () => seen };
}

/** Answers, and resolves when the whole answer was sent. */
function answering(reply: Reply): Promise<unknown> {
  const finished = Promise.withResolvers<undefined>();
  relay().first.reply = (request, response) => {
    response.once('finish', () => finished.resolve(undefined));
    reply(request, response);
  };
  return finished.promise;
}

/** Takes longer than the gateway needs for an answer that has arrived. */
const anotherCall = () => call(relay().gateway.url, 'GET', '/v1/models');

describe('while the disk writes the hold', () => {
  test.each(Object.entries(ANSWERS))('the upstream works, and the client sees nothing of %s', async (_what, reply) => {
    const written = slowBilling();
    const finished = answering(reply);
    const { answer, seen } = sent();
    await finished;
    await anotherCall();

    expect(seen()).toBeUndefined();
    written.resolve(undefined);
    const whole = await answer;
    relay().gateway.calls.confirming = undefined;
    const again = await sent().answer;
    expect([whole.status, whole.text]).toEqual([again.status, again.text]);
  });

  test('a long answer waits in the upstream, not in the memory of the gateway', async () => {
    const written = slowBilling();
    let taken = 0;
    relay().first.reply = (_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      const piece = Buffer.alloc(1024 * 1024, 7);
      const more = (): void => {
        while (taken < SOUND_BYTES) {
          taken += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    };
    const { answer } = sent();
    await until(() => taken > 0);
    for (let calls = 0; calls < 20; calls += 1) await anotherCall();

    expect(taken).toBeLessThan(SOUND_BYTES / 2);
    written.resolve(undefined);
    expect((await answer).text).toHaveLength(SOUND_BYTES);
  });

  test('a client that leaves cancels the work of the upstream', async () => {
    const written = slowBilling();
    relay().first.reply = (_request, response) => void response.writeHead(200).write('{');
    const [left, seen] = [relay().first.left(), relay().first.seen.length];
    const { abort } = hanging();
    await until(() => relay().first.seen.length > seen);
    abort();
    await until(() => relay().first.left() > left);
    written.resolve(undefined);
    await relay().gateway.settled(1);

    expect(relay().gateway.calls.settled).toHaveLength(1);
  });
});

describe('if the hold does not get to the disk', () => {
  test.each(Object.entries(ANSWERS))('the client gets a refusal and nothing of %s', async (_what, reply) => {
    const written = slowBilling();
    const finished = answering(reply);
    const { answer } = sent();
    await finished;
    written.reject(STUCK);
    const { status, json: refusal } = await answer;
    await relay().gateway.settled(1);

    expect([status, refusal.error.code]).toEqual([503, 'service_unavailable']);
    expect(relay().gateway.calls.settled).toMatchObject([{ basis: Basis.RELEASED }]);
  });

  test('a stream that has begun is cancelled, and its call is released once', async () => {
    const written = slowBilling();
    const left = relay().first.left();
    relay().first.reply = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENT);
    };
    const { answer } = sent();
    await until(() => relay().first.seen.length === 1);
    written.reject(STUCK);

    expect((await answer).status).toBe(503);
    await until(() => relay().first.left() > left);
    await relay().gateway.settled(1);
    expect(relay().gateway.calls.settled).toMatchObject([{ basis: Basis.RELEASED }]);
  });

  test('no other channel is tried', async () => {
    const written = slowBilling();
    relay().first.reply = () => written.reject(STUCK);

    expect((await sent().answer).status).toBe(503);
    expect(relay().second.seen).toEqual([]);
  });
});

/** A call whose client can leave. */
function hanging(): { readonly abort: () => void } {
  const over = new AbortController();
  void fetch(`${relay().gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(chat),
    signal: over.signal,
  }).catch(() => undefined);
  return { abort: () => over.abort() };
}
