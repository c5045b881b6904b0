import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import http from 'node:http';
import { TOKEN } from '../../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';

const STRANGE_TOKENS = 1700;
const CONNECTIONS_MAX = 50;

let under: GatewayUnderTest;
let agent: http.Agent;
beforeEach(async () => {
  under = await startGatewayUnderTest({ trustedProxies: ['127.0.0.1'] });
  agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
});
afterEach(async () => {
  agent.destroy();
  await under.stop();
});

const modelsAs = (token: string, from: string) =>
  call(under.url, 'GET', '/v1/models', { token, agent, headers: { 'x-forwarded-for': from } });

/** The number of tokens within one second: the clock stands still. */
async function floodFrom(addresses: readonly string[]): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: STRANGE_TOKENS }, (_, index) =>
      modelsAs(`strange-token-${index}`, addresses[index % addresses.length] ?? ''),
    ),
  );
  return [...new Set(answers.map(({ status }) => status))].toSorted((a, b) => a - b);
}

describe('a flood of strange tokens', () => {
  test.each([
    ['one address', ['198.51.100.1']],
    ['a few addresses', ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.100.4', '198.51.100.5']],
    ['one address that claims many', Array.from({ length: 256 }, (_, at) => `203.0.113.${at}, 198.51.100.1`)],
  ])('from %s does not shut out a new valid token', async (_who, addresses) => {
    const statuses = await floodFrom(addresses);

    expect(statuses).toContain(401);
    expect(statuses).not.toContain(200);
    expect((await modelsAs(TOKEN, '192.0.2.7')).status).toBe(200);
  });
  test('is told to wait, and its address gets in again later', async () => {
    expect(await floodFrom(['198.51.100.1'])).toEqual([401, 429]);
    const refused = await modelsAs(TOKEN, '198.51.100.1');
    expect([refused.status, refused.headers['retry-after'], refused.json.error.code]).toEqual([
      429,
      '1',
      'rate_limit_exceeded',
    ]);

    await under.clock.advance(1000);
    expect((await modelsAs(TOKEN, '198.51.100.1')).status).toBe(200);
  });
});
