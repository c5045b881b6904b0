import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readConfigFile } from '@reelgate/platform/config/config-file';
import { describeChannels } from '../../../deploy/program/config/channels-schema.ts';
import { listAdapters, tasksConfig, tasksSchema } from './config.ts';
import type { TasksConfig } from './config.ts';

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: { ...tasksSchema, channels: describeChannels(listAdapters([])), accounts: { type: 'array' } },
};
const PUBLIC_URL = 'https://gateway.example';
const CHANNEL = `
  - id: main
    adapter: alpha-v2
    base_url: https://upstream.example
    api_key: secret
    upstream_account: vendor
    endpoints: [video.generation]
    models: { Alpha-H3: MiniMax-H3 }`;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function configOf(yaml: string, publicUrl = PUBLIC_URL): TasksConfig {
  const file = path.join(folder, 'reelgate.yaml');
  writeFileSync(file, yaml);
  return tasksConfig(readConfigFile(file, SCHEMA, {}).value, publicUrl);
}

describe('a missing setting', () => {
  test('has the defaults of the design', () => {
    expect(configOf('')).toMatchObject({
      store: {
        name: 'tasks',
        url: undefined,
        postgres: {
          connections: 16,
          queue: 1000,
          connectMs: 5000,
          statementMs: 30_000,
          lockMs: 10_000,
          idleInTransactionMs: 30_000,
        },
        mode: 'run',
      },
      limits: { inFlightPerToken: 20, inFlightTotal: 1000 },
      pollPlan: { firstMs: 3000, factor: 1.5, maxMs: 15_000 },
      softDeadlineMs: 30 * 60_000,
      hardDeadlineMs: 24 * 3600 * 1000,
      retentionMs: 90 * 24 * 3600 * 1000,
      channels: [],
      jobs: {
        perToken: 100,
        total: 10_000,
        leaseMs: 20_000,
        deadlineMs: 3_600_000,
        retentionMs: 90 * 24 * 3600 * 1000,
      },
      webhooks: { allow: new Set(), retentionMs: 30 * 24 * 3600 * 1000, endpointsPerAccount: 20 },
    });
  });

  test('of a channel has one too', () => {
    expect(configOf(`channels:${CHANNEL}`).channels).toMatchObject([
      {
        id: 'main',
        baseUrl: 'https://upstream.example',
        priority: 0,
        weight: 1,
        enabled: true,
        requestsPerMinute: 300,
        inFlightMax: 30,
        pollsPerMinute: 6000,
        submitTimeoutMs: 60_000,
        pollTimeoutMs: 20_000,
        reconcile: 'list',
        references: 'url',
        callbacks: false,
        regeneration: 'task',
      },
    ]);
  });
});

test('every setting is read', () => {
  const config = configOf(`
tasks:
  database: "postgres://db/tasks"
  postgres:
    connections: 8
    queue: 9
    connect_timeout: 1s
    statement_timeout: 2s
    lock_timeout: 3s
    idle_in_transaction_timeout: 4s
  migrations: check
  in_flight: { per_token: 5, total: 50 }
  poll: { first: 200ms, factor: 2, max: 2s, soft_deadline: 1m, hard_deadline: 2h }
  retention: 30d
  jobs: { per_token: 3, total: 7, lease: 200ms, deadline: 2m }
webhooks:
  allow: ["Hooks.internal:8443", "127.0.0.1:80", "[0:0::1]:9000"]
  retention: 7d
  endpoints_per_account: 3
models:
  Alpha-H3: { kind: video, duration: [4, 15], resolutions: [768P, 2K], ratios: [adaptive, "16:9"] }
channels:${CHANNEL}
    priority: -3
    limits: { requests_per_minute: 7, in_flight: 2, polls_per_minute: 60 }
    timeouts: { submit: 5s, poll: 2s }
    reconcile: none
    references: inline
    regeneration: video
    enabled: false
accounts: [{ id: demo, upstream_accounts: [vendor] }, { id: other }]`);

  expect(config).toMatchObject({
    store: {
      postgres: {
        connections: 8,
        queue: 9,
        connectMs: 1000,
        statementMs: 2000,
        lockMs: 3000,
        idleInTransactionMs: 4000,
      },
      mode: 'check',
    },
    limits: { inFlightPerToken: 5, inFlightTotal: 50 },
    pollPlan: { firstMs: 200, factor: 2, maxMs: 2000 },
    softDeadlineMs: 60_000,
    hardDeadlineMs: 7_200_000,
    retentionMs: 30 * 24 * 3600 * 1000,
    jobs: { perToken: 3, total: 7, leaseMs: 1000, deadlineMs: 120_000, retentionMs: 30 * 24 * 3600 * 1000 },
    webhooks: {
      allow: new Set(['hooks.internal:8443', '127.0.0.1:80', '[::1]:9000']),
      retentionMs: 7 * 24 * 3600 * 1000,
      endpointsPerAccount: 3,
    },
    channels: [
      {
        priority: -3,
        requestsPerMinute: 7,
        inFlightMax: 2,
        pollsPerMinute: 60,
        submitTimeoutMs: 5000,
        pollTimeoutMs: 2000,
        reconcile: 'none',
        references: 'inline',
        regeneration: 'video',
        enabled: false,
      },
    ],
  });
  expect(config.store.url?.reveal()).toBe('postgres://db/tasks');
  expect(config.models.get('Alpha-H3')).toEqual({
    id: 'Alpha-H3',
    durationMin: 4,
    durationMax: 15,
    resolutions: ['768P', '2K'],
    ratios: ['adaptive', '16:9'],
  });
  expect([...config.grants]).toEqual([
    ['demo', ['vendor']],
    ['other', []],
  ]);
});

test('a maximum poll interval below the first one becomes the first one', () => {
  expect(configOf('tasks: { poll: { first: 20s, max: 5s } }').pollPlan).toMatchObject({
    firstMs: 20_000,
    maxMs: 20_000,
  });
});

test('a relay channel needs no upstream account, and this service ignores it', () => {
  const relay = `
  - id: text
    adapter: relay
    auth: bearer
    base_url: https://upstream.example
    api_key: secret
    endpoints: [chat, images.generations, realtime]
    models: { some-model: some-model-2026 }`;

  expect(configOf(`channels:${CHANNEL}${relay}`).channels.map(({ id }) => id)).toEqual(['main']);
});

test('the key of a channel is not printed', () => {
  expect(JSON.stringify(configOf(`channels:${CHANNEL}`).channels)).not.toContain('"secret"');
});

test.each([
  ['http://127.0.0.1:8080', 'inline'],
  ['http://localhost:8080', 'inline'],
  ['http://10.1.2.3', 'inline'],
  ['http://192.168.0.2', 'inline'],
  ['http://172.20.0.1', 'inline'],
  ['http://[::1]:8080', 'inline'],
  ['https://gateway.example', 'url'],
  ['https://172.15.0.1', 'url'],
  ['https://8.8.8.8', 'url'],
])('a channel without a setting for media gets them from %s as %s', (publicUrl, references) => {
  expect(configOf(`channels:${CHANNEL}`, publicUrl).channels[0]?.references).toBe(references);
});

test.each(['999.1.1.1:80', 'hooks.internal:0', '"[:::1]:80"'])('no receiver is allowed as %s', (entry) => {
  expect(() => configOf(`webhooks: { allow: [${entry}] }`)).toThrow(/webhooks\.allow\.0: expected a host and a port/);
});

test.each([
  ['an unknown key', 'tasks: { in_flights: 3 }', /in_flights/],
  ['a limit of zero', 'tasks: { in_flight: { total: 0 } }', /tasks\.in_flight\.total/],
  ['a duration without its unit', 'tasks: { poll: { first: "3" } }', /a duration such as/],
  ['another database', 'tasks: { database: "mysql://db" }', /a PostgreSQL URL/],
  ['an unknown adapter', `channels:${CHANNEL.replace('alpha-v2', 'alpha-v9')}`, /adapter/],
  ['an unknown endpoint', `channels:${CHANNEL.replace('video.generation', 'video.upscale')}`, /endpoints/],
  [
    'an invalid address',
    `channels:${CHANNEL.replace('https://upstream.example', 'upstream.example')}`,
    /an http:\/\/ or https:\/\/ URL/,
  ],
  [
    'a missing upstream account',
    `channels:${CHANNEL.replace('    upstream_account: vendor\n', '')}`,
    /upstream_account/,
  ],
  ['a receiver without a port', 'webhooks: { allow: [hooks.internal] }', /webhooks\.allow\.0/],
  ['no endpoint of an account', 'webhooks: { endpoints_per_account: 0 }', /endpoints_per_account/],
  ['a weight of zero', `channels:${CHANNEL}\n    weight: 0`, /weight/],
])('%s stops the start with an error that names the setting', (_what, yaml, said) => {
  expect(() => configOf(yaml)).toThrow(said);
  expect(() => configOf(yaml)).toThrow(/reelgate\.yaml:\d+/);
});
