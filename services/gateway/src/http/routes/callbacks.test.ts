import { createConnection } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { Secret, deriveSecret } from '@reelgate/platform/secret';
import { signName } from '@reelgate/platform/signatures';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import type { CallOptions } from '../../../testing/http-call.ts';

const KEY = deriveSecret(new Secret('a key'), 'upstream-callbacks');
const BODY_BYTES_MAX = 64 * 1024;
const CALLS_PER_MINUTE = 120;

let under: GatewayUnderTest;
let token = '';
let made = 0;
beforeAll(async () => {
  under = await startGatewayUnderTest();
});
beforeEach(() => {
  // each test has a new address, because each address has its own limit
  token = signName(KEY, `task_${(made += 1)}.1`);
  under.tasks.calls.length = 0;
});
afterAll(async () => {
  expect(under.billing.asked).toEqual([]);
  await under.stop();
});

const calling = (method: string, query: string, options: CallOptions = {}, at = token) =>
  call(under.url, method, `/callbacks/${at}${query}`, { token: null, ...options });
const lastCallback = (): unknown => under.tasks.callbacks.at(-1);

describe('a challenge', () => {
  test.each<[string, string, string, CallOptions, string]>([
    ['in a body', 'POST', '', { body: { challenge: 'abc' } }, 'abc'],
    [
      'in a body that is not declared as JSON',
      'POST',
      '',
      { body: '{"challenge":"abc"}', headers: { 'content-type': 'text/plain' } },
      'abc',
    ],
    ['in a body beside a task', 'POST', '', { body: { challenge: 'abc', task: { id: '1' } } }, 'abc'],
    ['in the query of a GET', 'GET', '?challenge=a%20%2Bb', {}, 'a +b'],
    ['in the query of a POST', 'POST', '?challenge=abc', { body: {} }, 'abc'],
    ['with characters of every kind', 'POST', '', { body: { challenge: '狐狸 🦊 "\\\n' } }, '狐狸 🦊 "\\\n'],
    ['that is empty', 'POST', '', { body: { challenge: '' } }, ''],
    ['of the maximum length', 'POST', '', { body: { challenge: 'x'.repeat(1024) } }, 'x'.repeat(1024)],
  ])('%s is returned unchanged, and no service is called', async (_what, method, query, options, challenge) => {
    const answer = await calling(method, query, options);

    expect([answer.status, answer.headers['content-type'], answer.json]).toEqual([
      200,
      expect.stringContaining('application/json'),
      { challenge },
    ]);
    expect(under.tasks.calls).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['longer', 'x'.repeat(1025)],
    ['not a string', 5],
    ['nothing', null],
  ])('that is %s is refused', async (_what, challenge) => {
    const answer = await calling('POST', '', { body: { challenge } });

    expect([answer.status, answer.json.error.param]).toEqual([400, 'challenge']);
    expect(under.tasks.calls).toEqual([]);
  });
});

describe('a call', () => {
  test.each<[string, unknown, string]>([
    ['with an object', { task: { id: '1' } }, '{"task":{"id":"1"}}'],
    ['without a body', '', ''],
    ['with a list', [1, 2], '[1,2]'],
    ['with a body that is not JSON', '<html>', '<html>'],
  ])(
    '%s is passed on once, byte for byte, because the tasks service knows the upstream',
    async (_what, body, passed) => {
      const answer = await calling('POST', '', { body });

      expect([answer.status, answer.json]).toEqual([200, {}]);
      expect(under.tasks.calls).toEqual(['handleCallback']);
      expect(lastCallback()).toMatchObject({ token, body: passed });
    },
  );

  test.each<[string, unknown, string]>([
    ['in the shape of a query answer', { task: { id: '424010985738629', status: 'running' } }, '424010985738629'],
    ['with the id beside the status', { task_id: '424010985738629', status: 'processing' }, '424010985738629'],
    ['with a number as its id', { task: { id: 424010985738629 } }, '424010985738629'],
    ['with a number that has lost digits', '{"task":{"id":42401098573862912345}}', ''],
    ['with an id that is too long', { task: { id: 'x'.repeat(129) } }, ''],
    ['with an invalid id', { task: { id: { $ne: 1 } } }, ''],
    ['without a body', '', ''],
    ['with a list', [1, 2], ''],
    ['with a body that is not JSON', '<html>', ''],
    ['with a task that is null', { task: null }, ''],
  ])('%s is passed on with the id as a hint at most', async (_what, body, upstreamTaskId) => {
    expect(await calling('POST', '', { body })).toMatchObject({ status: 200, json: {} });
    expect(lastCallback()).toMatchObject({ token, upstreamTaskId });
  });

  test('passes on the headers that can hold a signature, and no others', async () => {
    const signed = { 'webhook-signature': 'v1,abc', 'x-fal-webhook-signature': '00ff' };
    const long = { 'x-long': 'x'.repeat(2049) };

    await calling('POST', '', { body: {}, headers: { ...signed, ...long, cookie: 'a=b', authorization: 'Bearer x' } });

    expect(lastCallback()).toMatchObject({ headers: signed });
    expect(Object.keys((lastCallback() as { headers: object }).headers)).not.toEqual(
      expect.arrayContaining(['x-long', 'cookie', 'authorization']),
    );
  });

  test('is refused if its body is over the limit, declared or not', async () => {
    const declared = await calling('POST', '', { body: 'x'.repeat(BODY_BYTES_MAX + 1) });
    const undeclared = await chunked(`/callbacks/${token}`, 'x'.repeat(BODY_BYTES_MAX + 1));

    expect([declared.status, declared.json.error.code]).toEqual([413, 'body_too_large']);
    expect(undeclared).toMatch(/^HTTP\/1\.1 413 /);
    expect(under.tasks.calls).toEqual([]);
  });

  test('that could not be passed on is not acknowledged', async () => {
    under.tasks.refuse(
      'handleCallback',
      new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'away' }),
    );

    expect((await calling('POST', '', { body: {} })).status).toBe(503);
  });

  test('is refused beyond the limit per minute, only at that address', async () => {
    for (let sent = 0; sent < CALLS_PER_MINUTE; sent += 1)
      expect((await calling('POST', '', { body: {} })).status).toBe(200);

    const refused = await calling('POST', '', { body: {} });
    const elsewhere = await calling('POST', '', { body: {} }, signName(KEY, 'task_elsewhere.1'));

    expect([refused.status, refused.json.error.code, elsewhere.status]).toEqual([429, 'rate_limit_exceeded', 200]);
    expect(under.tasks.calls).toHaveLength(CALLS_PER_MINUTE + 1);
  });
});

test('every invalid address has the same answer, and no service is called', async () => {
  const addresses = [
    'x',
    'task_1.1',
    'task_1.1.',
    token.slice(0, -1),
    `${token}=`,
    token.replace('.1.', '.2.'),
    signName(new Secret('a key'), 'task_1.1'),
    '%00',
    'x'.repeat(8000),
  ];
  const answers = await Promise.all(
    addresses.flatMap((address) => [
      calling('POST', '', { body: { challenge: 'abc' } }, address),
      calling('POST', '', { body: {} }, address),
      calling('GET', '?challenge=abc', {}, address),
    ]),
  );
  answers.push(await calling('GET', ''));

  expect(new Set(answers.map(({ status, text }) => `${status} ${text.replace(/req_\w+/g, '')}`)).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
  expect(under.tasks.calls).toEqual([]);
});

test('no document names the addresses', async () => {
  expect((await call(under.url, 'GET', '/openapi.json', { token: null })).text).not.toContain('callbacks');
});

/** Sends a body without a declared length; returns the head of the answer. */
function chunked(path: string, body: string): Promise<string> {
  const { hostname, port } = new URL(under.url);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) }, () => {
      const head = ['host: x', 'content-type: application/json', 'transfer-encoding: chunked'].join('\r\n');
      const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n\r\n${chunks}`);
    });
    socket.once('error', reject);
    socket.once('data', (part: Buffer) => {
      socket.destroy();
      resolve(part.toString());
    });
  });
}
