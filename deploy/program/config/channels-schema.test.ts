import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readConfigFile } from '@reelgate/platform/config/config-file';
import { listAdapters } from '@reelgate/tasks/config';
import { relayEndpoints } from '../../../services/gateway/src/relay/endpoints.ts';
import { describeChannels, listEndpoints } from './channels-schema.ts';

const KNOWN = listAdapters([]);
const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-channels-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** One channel as the schema reads it: a relay channel with the changes. */
function read(changes: object): unknown {
  const file = path.join(folder, 'channels.yaml');
  const channel = {
    id: 'one',
    adapter: 'relay',
    base_url: 'https://upstream.example',
    api_key: 'key',
    endpoints: ['chat'],
    models: { talk: 'up' },
    ...changes,
  };
  writeFileSync(file, JSON.stringify({ channels: [channel] }));
  const schema = { type: 'object', additionalProperties: false, properties: { channels: describeChannels(KNOWN) } };
  return (readConfigFile(file, schema, {}).value as { readonly channels: readonly unknown[] }).channels[0];
}

test.each([...new Set(relayEndpoints.map(({ name }) => name)), 'realtime'])(
  'a relay channel can have the endpoint %s',
  (endpoint) => {
    expect(read({ endpoints: [endpoint] })).toMatchObject({ endpoints: [endpoint] });
    expect(listEndpoints(KNOWN, 'relay')).toContain(endpoint);
  },
);

test('an endpoint without a row in the table is refused, and the message lists the endpoints that have one', () => {
  expect(() => read({ endpoints: ['no_such_endpoint'] })).toThrow(
    /endpoints\.0: expected one of: .*chat.*rerank.*realtime/,
  );
});

describe('each service adds its own keys to a channel', () => {
  test.each<[string, object, object]>([
    ['relay', {}, { auth: 'bearer', timeouts: { first_byte: '300s', idle: '120s' } }],
    [
      'alpha-v2',
      { endpoints: ['video.generation'], upstream_account: 'vendor' },
      { reconcile: 'list', hosts: {}, options: {}, timeouts: { submit: '60s', poll: '20s' } },
    ],
  ])('%s', (adapter, changes, defaults) => {
    expect(read({ adapter, ...changes })).toMatchObject(defaults);
  });
});

test('options of a channel are those of its adapter', () => {
  const task = { endpoints: ['video.generation'], upstream_account: 'vendor' };

  expect(read({ adapter: 'openai-videos', ...task, options: { body: 'form' } })).toMatchObject({
    options: { body: 'form' },
  });
  expect(() => read({ adapter: 'openai-videos', ...task, options: { body: 'xml' } })).toThrow(/options/);
  expect(() => read({ adapter: 'alpha-v2', ...task, options: { body: 'form' } })).toThrow(/takes no options/);
});

test.each<[string, string, object, RegExp]>([
  ['a host that the adapter does not have', 'fal', { hosts: { plattform: 'http://127.0.0.1:1' } }, /hosts/],
  [
    'a host of an adapter without further hosts',
    'runway',
    { hosts: { keys: 'http://127.0.0.1:1' } },
    /no further hosts/,
  ],
  [
    'a path at the address of the public keys',
    'fal',
    { hosts: { keys: 'http://127.0.0.1:1/jwks.json' } },
    /without a path, such as https:\/\/rest\.fal\.ai; \/\.well-known\/jwks\.json is added/,
  ],
  ['a secret of an upstream that signs with public keys', 'fal', { callback_secret: 'x' }, /no shared secret/],
  ['a secret of an upstream that does not sign', 'alpha-v2', { callback_secret: 'x' }, /no shared secret/],
])('a channel has no key that nothing would read: %s', (_what, adapter, keys, fault) => {
  expect(() => read({ adapter, endpoints: ['video.generation'], upstream_account: 'vendor', ...keys })).toThrow(fault);
});

test('a channel has the hosts and the secret of its adapter', () => {
  const task = { endpoints: ['video.generation'], upstream_account: 'vendor' };
  const hosts = { platform: 'http://127.0.0.1:1', keys: 'http://127.0.0.1:2' };

  expect(read({ adapter: 'fal', ...task, hosts })).toMatchObject({ hosts });
  expect(read({ adapter: 'kling', ...task, callback_secret: 'whsec_eA==' })).toMatchObject({
    callback_secret: 'whsec_eA==',
  });
});

test('an upstream account is required of a channel for tasks, and not of a relay channel', () => {
  expect(() => read({ adapter: 'alpha-v2' })).toThrow(/channels\.0: the key upstream_account is missing/);
  expect(read({ adapter: 'relay' })).toMatchObject({ id: 'one' });
});

test('a channel can have upstream prices, which have the terms of sale prices', () => {
  const prices = { talk: { per_million_tokens: { input: '0.5', output: '1.5' } } };

  expect(read({ upstream_prices: prices })).toMatchObject({ upstream_prices: prices });
  expect(read({})).not.toHaveProperty('upstream_prices');
  expect(() => read({ upstream_prices: { talk: { per_second: 0.05 } } })).toThrow(
    /upstream_prices\.talk\.per_second: expected a decimal in quotes/,
  );
  expect(() => read({ upstream_prices: { talk: { per_minute: '1' } } })).toThrow(/per_minute: no such key/);
});
