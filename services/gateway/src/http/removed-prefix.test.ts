import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import { FIRST_WORDS, readRemovedPrefix } from './removed-prefix.ts';

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest();
});
afterAll(() => under.stop());

test.each([
  ['https://host/gw', '/gw'],
  ['https://host/apis', '/apis'],
  ['https://host/api', ''],
  ['https://host/v1/gw', ''],
])('below %s the gateway removes %j', (publicUrl, prefix) => {
  expect(readRemovedPrefix(publicUrl)).toBe(prefix);
});

test('every documented path with several words begins with one of the first words', async () => {
  const { json } = await call(under.url, 'GET', '/openapi.json', { token: null });
  const firstWords = Object.keys(json.paths as object)
    .map((path) => path.split('/'))
    .filter(({ length }) => length > 2)
    .map(([, first]) => first);

  expect(firstWords.filter((word) => !(FIRST_WORDS as readonly (string | undefined)[]).includes(word))).toEqual([]);
  expect(firstWords.length).toBeGreaterThan(20);
});
