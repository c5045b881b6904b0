import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newMetrics } from '../metrics/metrics.ts';
import { hostCheck } from './allowed-hosts.ts';
import { healthRoutes } from './health-routes.ts';
import { openHttpPort } from './http-port.ts';
import type { HttpPort } from './http-port.ts';

const NAMES = ['tasks.reelgate.svc', 'Media.Example.', '*.apps.example', '0.0.0.0'];
const TABLE: readonly (readonly [host: string, isAllowed: boolean])[] = [
  ['127.0.0.1', true],
  ['127.0.0.1:9111', true],
  ['10.1.2.3:9111', true],
  ['[::1]', true],
  ['[2001:db8::7]:9111', true],
  ['localhost', true],
  ['LOCALHOST:80', true],
  ['tasks.reelgate.svc:9111', true],
  ['tasks.reelgate.svc.', true],
  ['media.example', true],
  ['one.apps.example', true],
  ['one.two.apps.example:1', true],
  ['apps.example', false],
  ['evilapps.example', false],
  ['attacker.example', false],
  ['attacker.example:9111', false],
  ['127.0.0.1.attacker.example', false],
  ['localhost.attacker.example', false],
  ['attacker.localhost', false],
  ['tasks.reelgate.svc.attacker.example', false],
  ['0x7f000001', false],
  ['2130706433', false],
  ['127.1', false],
  ['[attacker.example]', false],
  ['127.0.0.1, attacker.example', false],
  ['127.0.0.1@attacker.example', false],
];

let port: HttpPort;
beforeAll(async () => {
  port = await openHttpPort({
    listen: { host: '127.0.0.1', port: 0 },
    health: healthRoutes(async () => true, newMetrics(false)),
    isAllowedHost: hostCheck(NAMES),
  });
  port.serve({
    handle: (_, response) => void response.writeHead(204).end(),
    close: () => undefined,
    settled: async () => undefined,
  });
});
afterAll(() => port.stop());

const get = (path: string, host: string): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port: port.port, path, headers: { host }, agent: false });
    request.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
  });

describe.each(['/metrics', '/healthz', '/readyz', '/other'])('%s of a port that knows its names', (path) => {
  const answer = path === '/other' ? 204 : 200;
  test.each(TABLE)('asked as %j answers: %s', async (host, isAllowed) => {
    expect((await get(path, host)).status).toBe(isAllowed ? answer : 421);
  });
});

test('a refusal says what is wrong and what would be right', async () => {
  expect(JSON.parse((await get('/metrics', 'attacker.example')).text)).toEqual({
    code: 'permission_denied',
    message:
      'this port does not answer to the host attacker.example; expected an address, localhost or a name of allowed_hosts',
  });
});
test('a request without a host comes from no browser, and is answered', () => {
  expect(hostCheck(NAMES)({ headers: {} })).toBe(true);
});
