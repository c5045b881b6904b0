import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { aRelayChannel } from '../../testing/a-relay-channel.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import { json, startRelayUpstream } from '../../testing/scripted-relay-upstream.ts';
import type { RelayUpstream } from '../../testing/scripted-relay-upstream.ts';

let under: GatewayUnderTest;
let upstream: RelayUpstream;
beforeAll(async () => {
  upstream = await startRelayUpstream();
  under = await startGatewayUnderTest({ channels: [aRelayChannel({ base_url: `${upstream.url}/v1` })] });
});
afterAll(async () => {
  await under.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
  under.calls.placed.length = 0;
  under.calls.settled.length = 0;
});

const chat = { model: 'some-model', messages: [{ role: 'user', content: 'hello' }], max_tokens: 10 };
const CHAT_ANSWER = { id: 'chatcmpl-1', object: 'chat.completion', model: 'upstream-model-2026-01-01', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }], usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 } };

describe('a JSON call', () => {
  test('goes to the upstream as it came, but for the model and the credential', async () => {
    upstream.reply = json(CHAT_ANSWER);
    const answer = await call(under.url, 'POST', '/v1/chat/completions?beta=1', { body: `{ "model" : "some-model",  "n":1 }`, headers: { 'x-stainless-lang': 'js' } });

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ ...CHAT_ANSWER, model: 'some-model' });
    expect(upstream.seen).toHaveLength(1);
    expect(upstream.seen[0]).toMatchObject({ url: '/v1/chat/completions?beta=1', headers: { authorization: 'Bearer upstream-secret-key', 'x-stainless-lang': 'js' } });
    expect(upstream.seen[0]?.body.toString()).toBe(`{ "model" : "upstream-model-2026",  "n":1 }`);
  });
  test('is held by its upper bound before it is sent, and settled by its usage', async () => {
    upstream.reply = json(CHAT_ANSWER);
    await call(under.url, 'POST', '/v1/chat/completions', { body: chat });
    await under.settled(1);

    expect(under.calls.placed).toMatchObject([{ accountId: 'demo', priceKeys: ['some-model__chat', 'some-model'], facts: { outputTokens: 10n } }]);
    expect(under.calls.settled).toMatchObject([{ callId: under.calls.placed[0]?.callId, basis: 1, usage: { inputTokens: 9n, outputTokens: 2n } }]);
  });
});
