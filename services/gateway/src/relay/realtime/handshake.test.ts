import { describe, expect, test } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { readHandshake, setSearchModel } from './handshake.ts';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

const request = (url: string, more: Readonly<Record<string, string>> = {}): IncomingMessage => {
  const headers = {
    host: 'gateway',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': KEY,
    'sec-websocket-version': '13',
    ...more,
  };
  return { method: 'GET', url, headers, rawHeaders: Object.entries(headers).flat() } as unknown as IncomingMessage;
};

describe('the query names another model, and its rest is unchanged', () => {
  test.each([
    ['?model=a', '?model=b%2Fc'],
    ['?x=1&model=a&y=%41+b', '?x=1&model=b%2Fc&y=%41+b'],
    ['?mo%64el=a', '?mo%64el=b%2Fc'],
    ['?model=a&model=z', '?model=b%2Fc&model=b%2Fc'],
    ['?models=a', '?models=a'],
    ['', ''],
  ])('%s', (search, expected) => {
    expect(setSearchModel(search, 'b/c')).toBe(expected);
  });
});

test('no subprotocol with a credential or its owner is passed on', () => {
  const { protocols, headers } = readHandshake(
    request('/v1/realtime?model=a', {
      'sec-websocket-protocol':
        'realtime, openai-insecure-api-key.sk-secret, ' +
        'openai-organization.org-1, openai-project.p, openai-beta.realtime-v1',
      authorization: 'Bearer sk-secret',
      'openai-beta': 'realtime=v1',
      origin: 'https://page',
    }),
  );

  expect(protocols).toEqual(['realtime', 'openai-beta.realtime-v1']);
  expect(headers).toEqual(['openai-beta', 'realtime=v1']);
});

describe('an invalid handshake is refused', () => {
  test.each<[string, IncomingMessage, string]>([
    ['no model', request('/v1/realtime'), 'missing_model'],
    ['an empty model', request('/v1/realtime?model='), 'missing_model'],
    ['another version', request('/v1/realtime?model=a', { 'sec-websocket-version': '8' }), 'upgrade_required'],
    ['an invalid key', request('/v1/realtime?model=a', { 'sec-websocket-key': 'short' }), 'invalid_request'],
    [
      'an invalid subprotocol',
      request('/v1/realtime?model=a', { 'sec-websocket-protocol': 'real time' }),
      'invalid_request',
    ],
    [
      'a subprotocol twice',
      request('/v1/realtime?model=a', { 'sec-websocket-protocol': 'realtime, realtime' }),
      'invalid_request',
    ],
  ])('%s', (_name, bad, reason) => {
    expect(() => readHandshake(bad)).toThrow(expect.objectContaining({ reason }));
  });
});
