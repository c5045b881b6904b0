import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { Problem } from '@reelgate/platform/problem';
import { TOKEN } from '../../../testing/fake-services.ts';
import { checkedConfig, startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';

let under: GatewayUnderTest;
beforeEach(async () => {
  under = await startGatewayUnderTest({ limits: { creates_per_minute: 3, reads_per_minute: 5 } });
});
afterEach(() => under.stop());

const models = (headers: Readonly<Record<string, string>>) =>
  call(under.url, 'GET', '/v1/models', { headers, token: null });

describe('a token', () => {
  test.each([
    ['as the contract says', { authorization: `Bearer ${TOKEN}` }],
    ['with another case', { authorization: `bearer  ${TOKEN}` }],
    ["as Anthropic's clients spell it", { 'x-api-key': TOKEN }],
    ["as Google's clients spell it", { 'x-goog-api-key': TOKEN }],
    ["as Azure's clients spell it", { 'api-key': TOKEN }],
    ['beside a malformed one', { authorization: 'Basic x', 'x-api-key': TOKEN }],
    ['beside a placeholder', { authorization: 'Bearer placeholder', 'x-api-key': TOKEN }],
    ['before a placeholder', { authorization: `Bearer ${TOKEN}`, 'api-key': 'placeholder' }],
    ['beside one that has expired', { 'x-api-key': 'expired-token', 'x-goog-api-key': TOKEN }],
    [
      "as a browser's realtime client has to",
      {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-protocol': `realtime, openai-insecure-api-key.${TOKEN}`,
      },
    ],
  ] as [string, Record<string, string>][])('%s', async (_what, headers) => {
    under.billing.tokens.set('expired-token', { expiresAtMs: under.clock.now() });

    expect((await models(headers)).status).toBe(200);
  });
  test('of several that are refused, a known one decides about the refusal', async () => {
    under.billing.tokens.set('disabled-token', { disabled: true });
    const [unknown, disabled] = ['unknown-token', 'disabled-token'];
    const first = await models({ authorization: `Bearer ${unknown}`, 'api-key': disabled });
    const last = await models({ authorization: `Bearer ${disabled}`, 'api-key': unknown });

    for (const { status, json } of [first, last]) expect([status, json.error.code]).toEqual([403, 'token_disabled']);
  });
  test.each([
    ['none', {}],
    ['of another scheme', { authorization: 'Basic c2s6eA==' }],
    ['empty', { authorization: 'Bearer ' }],
    ['bare', { authorization: TOKEN }],
    ['too short', { authorization: 'Bearer sk' }],
    ['too long', { authorization: `Bearer ${'x'.repeat(257)}` }],
    ['two', { authorization: `Bearer ${TOKEN} ${TOKEN}` }],
    ['as a subprotocol without an upgrade', { 'sec-websocket-protocol': `openai-insecure-api-key.${TOKEN}` }],
  ] as [string, Record<string, string>][])('%s is not a token, and billing is not called', async (_what, headers) => {
    const answer = await call(under.url, 'GET', '/v1/videos', { headers, token: null });

    expect([answer.status, answer.json.error.code, answer.headers['www-authenticate']]).toEqual([
      401,
      'invalid_api_key',
      'Bearer',
    ]);
    expect(under.billing.asked).toEqual([]);
  });
  test('is 401 if billing does not know it, and 403 if it is disabled or expired', async () => {
    under.billing.tokens.set('disabled-token', { disabled: true });
    under.billing.tokens.set('expired-token', { expiresAtMs: under.clock.now() });

    const answers = await Promise.all(
      ['unknown-token', 'disabled-token', 'expired-token'].map((token) =>
        call(under.url, 'GET', '/v1/models', { token }),
      ),
    );
    expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual([
      [401, 'invalid_api_key'],
      [403, 'token_disabled'],
      [403, 'token_disabled'],
    ]);
  });
  test('is refused as soon as the event of its revocation arrives', async () => {
    expect((await models({ authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    under.billing.tokens.set(TOKEN, { disabled: true });
    under.bus.announce(TokenChangedSchema, create(TokenChangedSchema, { tokenId: `token-${TOKEN}` }));

    expect((await models({ authorization: `Bearer ${TOKEN}` })).status).toBe(403);
  });
  test('is not required on an open route', async () => {
    const answers = await Promise.all(
      ['/healthz', '/readyz', '/openapi.json', '/docs', '/ximg/a.mp4'].map((path) =>
        call(under.url, 'GET', path, { token: null }),
      ),
    );

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(under.billing.asked).toEqual([]);
  });
  test('is 503 while billing is unreachable, and a retry may help', async () => {
    under.billing.fault = new Problem({
      kind: 'unavailable',
      reason: 'service_unavailable',
      message: 'a part of the service cannot be reached; try again',
    });
    const answer = await call(under.url, 'POST', '/v1/videos', { body: { model: 'Alpha-H3', prompt: 'x' } });

    expect([answer.status, answer.headers['retry-after'], answer.headers['x-should-retry']]).toEqual([
      503,
      '1',
      undefined,
    ]);
  });
});

describe('a limit', () => {
  test('of creates refuses the next one, tells when one fits again, and applies before the body is read', async () => {
    const create_ = () => call(under.url, 'POST', '/v2/video_generation', { body: '{not json' });
    const before = [await create_(), await create_(), await create_()];
    const refused = await create_();

    expect(
      before.map(({ status, headers }) => [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]),
    ).toEqual([
      [400, '3', '2'],
      [400, '3', '1'],
      [400, '3', '0'],
    ]);
    expect(refused.json.error).toMatchObject({ type: 'rate_limit_error', http_code: '429' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(refused.headers).toMatchObject({
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
    });

    await under.clock.advance(Number(refused.headers['retry-after']) * 1000);
    expect((await create_()).status).toBe(400);
  });
  test('of reads is separate, and each token has its own', async () => {
    for (let read = 0; read < 5; read += 1) await models({ authorization: `Bearer ${TOKEN}` });
    under.billing.tokens.set('another-token', {});

    expect((await models({ authorization: `Bearer ${TOKEN}` })).json.error.code).toBe('rate_limit_exceeded');
    expect((await models({ 'x-api-key': 'another-token' })).status).toBe(200);
    expect((await call(under.url, 'POST', '/v1/videos', { body: { model: 'Alpha-H3', prompt: 'x' } })).status).toBe(
      200,
    );
  });
  test('of a token overrides the configured one', async () => {
    under.billing.tokens.set('own-token', { limits: { createsPerMinute: 1, inFlight: 7 } });
    const create_ = () =>
      call(under.url, 'POST', '/v1/videos', { token: 'own-token', body: { model: 'Alpha-H3', prompt: 'x' } });
    const [first, second] = [await create_(), await create_()];

    expect([first.status, first.headers['x-ratelimit-limit'], second.status, second.json.error.code]).toEqual([
      200,
      '1',
      429,
      'rate_limit_exceeded',
    ]);
    expect((await models({ 'x-api-key': 'own-token' })).headers['x-ratelimit-limit']).toBe('5');
  });
});

describe('the models', () => {
  test('are those of enabled channels that the token may use', async () => {
    under.billing.tokens.set('narrow-token', { models: ['Beta-V1', 'Hidden', 'No-Such'] });
    const ids = async (token: string): Promise<string[]> =>
      ((await call(under.url, 'GET', '/v1/models', { token })).json.data as { id: string }[]).map(({ id }) => id);

    expect(await ids(TOKEN)).toEqual(['Alpha-H3', 'Beta-V1']);
    expect(await ids('narrow-token')).toEqual(['Beta-V1']);
  });
  test('are read one by one', async () => {
    under.billing.tokens.set('narrow-token', { models: ['Beta-V1'] });

    expect((await call(under.url, 'GET', '/v1/models/Alpha-H3')).json).toEqual({
      id: 'Alpha-H3',
      object: 'model',
      created: 0,
      owned_by: 'reelgate',
    });
    expect((await call(under.url, 'GET', '/v1/models/Alpha-H3', { token: 'narrow-token' })).json.error.code).toBe(
      'model_not_found',
    );
  });
  test('change when the configuration is reloaded', async () => {
    await under.gateway.reload({
      ...(checkedConfig() as object),
      channels: [{ id: 'two', models: { 'Gamma-V1': 'up' } }],
    });

    expect((await models({ authorization: `Bearer ${TOKEN}` })).json.data).toMatchObject([{ id: 'Gamma-V1' }]);
  });
});
