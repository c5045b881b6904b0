import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import http from 'node:http';
import { OPERATOR_KEYS } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import type { Answer } from '../../../testing/http-call.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

const WRONG_KEYS = 2000;
const CONNECTIONS_MAX = 50;

let under: OperatorUnderTest;
let agent: http.Agent;
beforeEach(async () => {
  under = await startOperatorUnderTest({ trustedProxies: ['127.0.0.1'] });
  agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
});
afterEach(async () => {
  agent.destroy();
  await under.stop();
});

const signIn = (key: string, from: string): Promise<Answer> =>
  call(under.url, 'POST', '/console/api/session', {
    token: null,
    agent,
    headers: { origin: under.url, 'x-reelgate-console': '1', 'x-forwarded-for': from },
    body: { key },
  });
const tryKeys = (count: number, from: string): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => signIn(`wrong-key-of-nobody-${index}`, from)));
const keysOf = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

describe('two thousand wrong keys of one address', () => {
  test('are not looked at beyond the first ten, and give one warning', async () => {
    const answers = await tryKeys(WRONG_KEYS, '198.51.100.1');

    expect([keysOf(answers, 401), keysOf(answers, 429)]).toEqual([10, WRONG_KEYS - 10]);
    expect(answers.find(({ status }) => status === 429)).toMatchObject({
      headers: { 'retry-after': '60' },
      json: { error: { code: 'rate_limit_exceeded' } },
    });
    expect(under.gateway.warnings).toEqual([
      {
        fields: { door: 'operators', address: '198.51.100.1', wrongKeys: 1 },
        message: 'an address sends wrong keys',
      },
    ]);
  });
  test('shut out no other address, and no operator who is signed in', async () => {
    const headers = await under.headersOf('viewer');
    await tryKeys(20, '198.51.100.1');

    expect((await signIn(OPERATOR_KEYS.viewer, '198.51.100.2')).status).toBe(200);
    const me = await call(under.url, 'GET', '/console/api/me', {
      token: null,
      headers: { ...headers, 'x-forwarded-for': '198.51.100.1' },
    });
    expect(me.status).toBe(200);
  });
});

test('a right key of an address that tried too many is refused like a wrong one, until its minute is over', async () => {
  await tryKeys(11, '198.51.100.1');
  await under.gateway.clock.advance(59_999);
  const [right, wrong] = [await signIn(OPERATOR_KEYS.viewer, '198.51.100.1'), await tryKeys(1, '198.51.100.1')];
  expect([right.status, right.json.error.message]).toEqual([429, wrong[0]?.json.error.message]);

  await under.gateway.clock.advance(1);
  expect((await signIn(OPERATOR_KEYS.viewer, '198.51.100.1')).status).toBe(200);
});

test('right keys do not count, however many', async () => {
  for (let time = 0; time < 12; time += 1)
    expect((await signIn(OPERATOR_KEYS.viewer, '198.51.100.1')).status).toBe(200);
});

test('an address cannot get further keys by what it claims to be', async () => {
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => signIn('wrong-key-of-nobody', `192.0.2.${index}, 198.51.100.1`)),
  );

  expect(keysOf(answers, 401)).toBe(10);
});
