import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readConfigFile } from '@reelgate/platform/config/config-file';
import { gatewayConfig, gatewaySchema } from './config.ts';
import type { GatewayConfig } from './config.ts';

const schema = { type: 'object', additionalProperties: true, properties: gatewaySchema };
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-config-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function read(text: string): GatewayConfig {
  const file = path.join(folder, 'reelgate.yaml');
  writeFileSync(file, text);
  return gatewayConfig(readConfigFile(file, schema, {}).value);
}

test.each(['', 'gateway:\n', 'gateway: { redis: "", limits: }\n'])(
  'an absent key and an empty value mean the default: %j',
  (text) => {
    expect(read(text)).toMatchObject({
      listen: { host: '127.0.0.1', port: 8080 },
      admin: undefined,
      redis: undefined,
      limits: { bodyBytes: 64 * 1024 * 1024, createsPerMinute: 60, readsPerMinute: 600 },
    });
  },
);

test('configured values are read', () => {
  const { admin, redis, limits } = read(
    'gateway: { admin: "[::1]:9110", redis: "redis://:secret@redis:6379", ' +
      'limits: { body: 1MiB, creates_per_minute: 2147483647 } }',
  );

  expect(admin).toEqual({ host: '::1', port: 9110 });
  expect(limits).toEqual({
    bodyBytes: 1024 * 1024,
    createsPerMinute: 2_147_483_647,
    readsPerMinute: 600,
    callsPerMinute: 600,
  });
  expect([String(redis), redis?.reveal()]).toEqual(['***', 'redis://:secret@redis:6379']);
});

test('the models come with their defaults, and the models of disabled channels are not offered', () => {
  const { catalogue } = read(`
models:
  A: { kind: video, duration: [4, 15], resolutions: [768P], ratios: ["16:9"], defaults: { duration: 8 } }
channels:
  - { id: one, models: { A: up-a, B: up-b } }
  - { id: two, models: { A: up-a, C: up-c }, enabled: true }
  - { id: off, models: { D: up-d }, enabled: false }
`);

  expect(catalogue.models.get('A')).toMatchObject({
    duration: { min: 4, max: 15 },
    defaults: { duration: 8, resolution: '768P', ratio: '16:9' },
  });
  expect(catalogue.offered).toEqual(['A', 'B', 'C']);
});

test('an origin is written as browsers send it', () => {
  const origins = ['*', 'https://app.example', 'http://localhost:5173', 'http://[::1]:8080', 'tauri://localhost'];

  expect(read(`gateway: { cors: { origins: ${JSON.stringify(origins)} } }`).cors).toEqual({ origins, links: false });
});

describe('an invalid key prevents the start; the error names the line and the expected value', () => {
  test.each([
    ['gateway:\n  port: 8080\n', /:2: gateway\.port: no such key; expected one of: listen/],
    ['gateway:\n  listen: here\n', /:2: gateway\.listen: expected an address/],
    ['gateway:\n  limits: { body: big }\n', /gateway\.limits\.body: expected a size/],
    ['gateway:\n  limits: { creates_per_minute: 0 }\n', /creates_per_minute: expected a whole number from 1/],
    ['gateway:\n  limits: { reads_per_minute: 2147483648 }\n', /reads_per_minute: expected a whole number/],
    ['gateway:\n  connections: { per_source: 0 }\n', /connections\.per_source: expected a whole number from 1/],
    ['gateway:\n  redis: localhost\n', /gateway\.redis: expected a Redis address/],
    ...[
      'https://app.example/',
      'https://app.example:443',
      'http://app.example:80',
      'https://App.example',
      'app.example',
      'https://*.example',
      'null',
    ].map((origin): [string, RegExp] => [
      `gateway: { cors: { origins: ["https://a.example", "${origin}"] } }\n`,
      /gateway\.cors\.origins\.1: expected an origin as browsers send it, such as https/,
    ]),
  ])('%j', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});
