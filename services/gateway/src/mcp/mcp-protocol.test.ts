import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TASK_ID, aTask } from '../../testing/a-task.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call as callHttp } from '../../testing/http-call.ts';
import type { Answer, CallOptions } from '../../testing/http-call.ts';

const REVISION = '2026-07-28';
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': REVISION,
};

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest({ limits: { creates_per_minute: 1 } });
  under.tasks.tasks.set(`demo/${TASK_ID}`, aTask());
});
afterAll(() => under.stop());

/** A message of the newest revision, which has its own head in each request. */
const message = (method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': REVISION,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});
const post = (body: unknown, options: CallOptions = {}): Promise<Answer> => {
  const { method = '', params } = body as { readonly method?: string; readonly params?: { readonly name?: string } };
  const named = { 'mcp-method': method, ...(params?.name && { 'mcp-name': params.name }) };
  return callHttp(under.url, 'POST', '/mcp', {
    ...options,
    body,
    headers: { ...HEADERS, ...named, ...options.headers },
  });
};
const callTool = (name: string, args: object = {}, options: CallOptions = {}): Promise<Answer> =>
  post(message('tools/call', { name, arguments: args }), options);

describe('a request', () => {
  test.each([
    ['no token', null, 401, 'invalid_api_key'],
    ['an unknown token', 'rg_unknown-token', 401, 'invalid_api_key'],
    ['a disabled token', 'rg_disabled-token', 403, 'token_disabled'],
  ])('with %s is refused by HTTP, without a hint of OAuth', async (_what, token, status, code) => {
    under.billing.tokens.set('rg_disabled-token', { disabled: true });
    const answer = await post(message('tools/list'), { token });

    expect([answer.status, answer.json]).toEqual([
      status,
      { jsonrpc: '2.0', id: null, error: { code: -32_000, message: expect.any(String), data: { code } } },
    ]);
    expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
  });
  test.each([
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['a page without a site', { origin: 'null' }, 403],
    ['a page that leads its name here', { host: 'evil.example', origin: 'http://evil.example' }, 403],
    ['a program that names another host', { host: 'evil.example' }, 403],
    ['a page of ours', { origin: 'https://gateway.example' }, 200],
    ['a page at the address of this port', { host: 'localhost:1', origin: 'http://localhost:1' }, 200],
    ['a program at our name', { host: 'gateway.example' }, 200],
    ['a program', {}, 200],
  ] as const)('of %s', async (_what, headers, status) => {
    const answer = await post(message('tools/list'), { headers });

    expect([answer.status, answer.json.error?.data.code]).toEqual([
      status,
      status === 403 ? 'foreign_request' : undefined,
    ]);
  });
  test.each(['GET', 'DELETE', 'PUT'])('with %s is not allowed', async (method) => {
    const answer = await callHttp(under.url, method, '/mcp', { headers: HEADERS });

    expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
  });
  test.each<[string, unknown, number, number]>([
    ['that is no JSON', '{not json', 400, -32_700],
    ['with several messages, which a limit would count as one', [message('tools/list')], 400, -32_600],
    ['that is a text', '"tools/list"', 400, -32_600],
    ['that is too large', message('tools/list', { filler: 'x'.repeat(1024 * 1024) }), 413, -32_000],
    ['for a stream that would stay empty', message('subscriptions/listen'), 404, -32_601],
    ['for an unknown method', message('tools/forget'), 404, -32_601],
    ['for a list that this server lacks', message('resources/list'), 404, -32_601],
  ])('%s is refused as an error of the protocol', async (_what, body, status, code) => {
    const answer = await post(body);

    expect([answer.status, answer.json.error.code]).toEqual([status, code]);
  });
  test('whose headers contradict its body is refused', async () => {
    const answer = await post(message('tools/list'), { headers: { 'mcp-method': 'tools/call' } });

    expect([answer.status, answer.json.error.code]).toEqual([400, -32_020]);
  });
  test('of an unknown revision is told the known ones', async () => {
    const body = JSON.parse(JSON.stringify(message('tools/list')).replaceAll(REVISION, '2099-01-01')) as object;
    const answer = await post(body, { headers: { 'mcp-protocol-version': '2099-01-01' } });

    expect([answer.status, answer.json.error.code, answer.json.error.data.supported]).toEqual([
      400,
      -32_022,
      [REVISION],
    ]);
  });
  test('for a tool that does not exist is told the tools', async () => {
    const { json } = await callTool('video_delete', { id: TASK_ID });

    expect([json.error.code, json.error.message]).toEqual([-32_602, expect.stringContaining('video_create')]);
  });
});

test('a notification is taken and has no answer', async () => {
  const answer = await callHttp(under.url, 'POST', '/mcp', {
    headers: { ...HEADERS, 'mcp-protocol-version': '2025-11-25' },
    body: { jsonrpc: '2.0', method: 'notifications/initialized' },
  });

  expect([answer.status, answer.text]).toEqual([202, '']);
});

test('the tools may be kept by a client for five minutes, and the list is small', async () => {
  const { json, text } = await post(message('tools/list'));

  expect(json.result).toMatchObject({ ttlMs: 300_000, cacheScope: 'public' });
  expect(text.length).toBeLessThan(20_000);
  for (const { description } of json.result.tools) expect(description.length).toBeLessThan(500);
});

test('an answer has the id of its request and the limit of its token, and the metrics count its tool', async () => {
  const answer = await callTool('video_get', { id: TASK_ID }, { headers: { 'x-request-id': 'mine' } });
  const { text } = await callHttp(under.url, 'GET', '/metrics', { token: null });

  expect(answer.headers).toMatchObject({ 'x-request-id': 'mine', 'x-ratelimit-limit': '100000' });
  expect(text).toContain('reelgate_gateway_mcp_calls_total{tool="video_get",result="ok"} 1\n');
  expect(text).toMatch(
    /reelgate_gateway_requests_total\{route="\/mcp",kind="stream",method="POST",status="200"\} [1-9]/,
  );
});

test('creates have the limit of creates, and its refusal says when to repeat', async () => {
  const order = { model: 'Alpha-H3', prompt: 'x', max_amount: '1', currency: 'USD' };
  const answers = [
    await callTool('video_create', { ...order, idempotency_key: 'a' }),
    await callTool('video_create', { ...order, idempotency_key: 'b' }),
  ];

  expect(answers.map(({ status, json }) => [status, json.result.isError])).toEqual([
    [200, undefined],
    [200, true],
  ]);
  expect(answers[1]?.json.result.structuredContent.error).toMatchObject({
    code: 'rate_limit_exceeded',
    retryable: true,
    retry_after: 120,
  });
});

test('every message counts as a read of its token', async () => {
  under.billing.tokens.set('rg_slow-token', { limits: { readsPerMinute: 2 } });
  const statuses = [];
  for (let sent = 0; sent < 3; sent += 1)
    statuses.push((await post(message('tools/list'), { token: 'rg_slow-token' })).status);

  expect(statuses).toEqual([200, 200, 429]);
});

test('a gateway that is configured without tools has no such route', async () => {
  const without = await startGatewayUnderTest({ mcp: false });
  const answer = await callHttp(without.url, 'POST', '/mcp', { token: TOKEN, headers: HEADERS, body: {} });
  await without.stop();

  expect(answer.status).toBe(404);
});
