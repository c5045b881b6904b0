import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import { deriveServiceKey } from '../keys/service-key.ts';
import { readProgramConfig } from './program-config.ts';
import type { ProgramConfig, ServiceName } from './program-config.ts';
import { checkStandAlone } from './stand-alone.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-findings-'));
const file = path.join(folder, 'reelgate.yaml');
afterAll(() => rmSync(folder, { recursive: true }));

const ALPHA = { kind: 'video', duration: [4, 15], resolutions: ['768P', '2K'], ratios: ['16:9'] };
const video = (changes: object = {}): object => ({
  id: 'main',
  adapter: 'alpha-v2',
  base_url: 'https://upstream.example',
  api_key: 'key',
  upstream_account: 'vendor',
  endpoints: ['video.generation'],
  models: { 'Alpha-H3': 'up' },
  ...changes,
});
const relay = (changes: object = {}): object => ({
  id: 'text',
  adapter: 'relay',
  base_url: 'https://text.example',
  api_key: 'key',
  endpoints: ['chat'],
  models: { talk: 'up' },
  ...changes,
});
const PRICES = { 'Alpha-H3': { per_second: '0.08' }, talk: { per_request: '0.01' } };

/** The end of a line about the configuration, to the letter. */
const message = (text: string): RegExp => new RegExp(`${text.replaceAll('.', String.raw`\.`)}$`);

const keyOfService = (service: ServiceName): string =>
  deriveServiceKey(service, acceptOnly(new Secret('the-key-of-every-service'))).reveal();

/** A configuration in which nothing is wrong, but for the changes. */
function read(changes: object = {}): ProgramConfig {
  writeFileSync(
    file,
    JSON.stringify(
      { models: { 'Alpha-H3': ALPHA }, channels: [video(), relay()], prices: PRICES, ...changes },
      undefined,
      1,
    ),
  );
  return readProgramConfig({ REELGATE_CONFIG: file });
}

test('a correct configuration gives no warning', () => {
  expect(
    read({ accounts: [{ id: 'demo', upstream_accounts: ['vendor'], tokens: [{ models: ['*', 'talk', 'Alpha-H3'] }] }] })
      .warnings,
  ).toEqual([]);
});

test('the configuration of npm start gives no warning', () => {
  expect(readProgramConfig({}).warnings).toEqual([]);
});

describe('a setting that can never work is refused with file, line, key and what would be right', () => {
  test.each<[string, object, RegExp]>([
    [
      'an endpoint of another model that the contract ties to Alpha-H3',
      {
        models: { 'Alpha-H3': ALPHA, Beta: ALPHA },
        channels: [video({ models: { Beta: 'up' }, endpoints: ['video.generation', 'video.context_ir'] })],
      },
      message(
        'channels.0.endpoints.1: only the model Alpha-H3 has video.context_ir, and this channel has Beta; ' +
          'remove the endpoint',
      ),
    ],
    [
      'a regeneration price of another model',
      { prices: { ...PRICES, Beta__regeneration: { per_second: '0.05' } } },
      /prices\.Beta__regeneration: only Alpha-H3__regeneration can be priced/,
    ],
    [
      'a context-IR price of another model',
      { prices: { ...PRICES, talk__context_ir: { per_request: '1' } } },
      /prices\.talk__context_ir: only Alpha-H3__context_ir/,
    ],
    [
      'an endpoint that the adapter does not have',
      { channels: [video({ adapter: 'ark', endpoints: ['video.regeneration'] })] },
      /channels\.0\.endpoints\.0: the adapter ark has no video\.regeneration; expected one of: video\.generation/,
    ],
    [
      'a video endpoint of a relay channel',
      { channels: [relay({ endpoints: ['chat', 'video.generation'] })] },
      /channels\.0\.endpoints\.1: the adapter relay has no video\.generation; expected one of: chat/,
    ],
    [
      'callbacks in the clear',
      { public_url: 'http://gateway.example', channels: [video({ callbacks: true })] },
      /channels\.0\.callbacks: .*expected public_url to be https:\/\/, or callbacks: false/,
    ],
    [
      'a models entry of a relay model',
      { models: { 'Alpha-H3': ALPHA, talk: { kind: 'video' } } },
      /models\.talk: the key duration is missing; expected .*remove the entry if only relay channels use the model/,
    ],
    [
      'a models entry of another kind',
      { models: { 'Alpha-H3': ALPHA, talk: { ...ALPHA, kind: 'chat' } } },
      /models\.talk\.kind: expected video; only video models have an entry under models/,
    ],
    [
      'a range whose least is above its most',
      { models: { 'Alpha-H3': { ...ALPHA, duration: [15, 4] } } },
      /models\.Alpha-H3\.duration: expected the least before the most; it is \[15, 4\]/,
    ],
    [
      'a default length outside the range',
      { models: { 'Alpha-H3': { ...ALPHA, defaults: { duration: 16 } } } },
      /models\.Alpha-H3\.defaults\.duration: expected 4 to 15/,
    ],
    [
      'a default resolution that the model does not have',
      { models: { 'Alpha-H3': { ...ALPHA, defaults: { resolution: '4K' } } } },
      /models\.Alpha-H3\.defaults\.resolution: expected one of the model's own: 768P, 2K/,
    ],
    [
      'a default ratio that the model does not have',
      { models: { 'Alpha-H3': { ...ALPHA, defaults: { ratio: '1:1' } } } },
      /models\.Alpha-H3\.defaults\.ratio: expected one of the model's own: 16:9/,
    ],
    [
      'a time-out of nothing',
      { channels: [video({ timeouts: { submit: '0s' } })] },
      /channels\.0\.timeouts\.submit: expected a duration from 1ms/,
    ],
    [
      'an interval of nothing',
      { tasks: { poll: { first: '0ms' } } },
      /tasks\.poll\.first: expected a duration from 1ms/,
    ],
    [
      'a wait of nothing',
      { tasks: { queue: { longest_wait: { batch: '0s' } } } },
      /tasks\.queue\.longest_wait\.batch: expected a duration from 1ms/,
    ],
    ['bodies of nothing', { gateway: { limits: { body: '0' } } }, /gateway\.limits\.body: expected a size from 1B/],
    [
      'a limit of nothing',
      { gateway: { limits: { creates_per_minute: 0 } } },
      /gateway\.limits\.creates_per_minute: expected a whole number from 1/,
    ],
    [
      'the key of a caller with the scope operator that is too short',
      { internal_callers: [{ name: 'desk', key: 'x'.repeat(31), accounts: ['*'], scopes: ['operator'] }] },
      /internal_callers\.0\.key: expected a key of at least 32 characters for the caller desk, which has the scope operator/,
    ],
    [
      'the key of an operator that is too short',
      { operators: [{ name: 'ada', key: 'x'.repeat(31) }] },
      /operators\.0\.key: expected a key of at least 32 characters for the operator ada; `openssl rand -base64 32` makes one/,
    ],
    [
      'two operators with one name',
      {
        operators: ['key-of-operator-1-0123456789abcdef', 'key-of-operator-2-0123456789abcdef'].map((key) => ({
          name: 'ada',
          key,
        })),
      },
      /operators\.1\.name: expected a name that no other operator has/,
    ],
    [
      'two operators with one key',
      { operators: ['ada', 'bob'].map((name) => ({ name, key: 'key-of-operator-1-0123456789abcdef' })) },
      /operators\.1\.key: expected a key that no other operator has/,
    ],
    [
      'two internal callers of one name',
      { internal_callers: ['key-number-1', 'key-number-2'].map((key) => ({ name: 'a', key, accounts: ['demo'] })) },
      /internal_callers\.1\.name: expected a name that no other caller has/,
    ],
    [
      'two internal callers with one key',
      { internal_callers: ['a', 'b'].map((name) => ({ name, key: 'key-number-1', accounts: ['demo'] })) },
      /internal_callers\.1\.key: expected a key that no other caller has/,
    ],
    ['two channels of one id', { channels: [video(), video()] }, /channels\.1\.id: another channel is called main/],
    [
      'a public address with a query',
      { public_url: 'https://gateway.example/?a=b' },
      /public_url: expected an http:\/\/ or https:\/\/ address without a query/,
    ],
  ])('%s', (_what, changes, expected) => {
    expect(() => read(changes)).toThrow(expected);
    expect(() => read(changes)).toThrow(new RegExp(`^${file}:\\d+: `));
  });
});

describe('a setting without effect gives a warning with file, line, key and what would be right', () => {
  test.each<[string, object, RegExp]>([
    [
      'a private address at which every client may name media',
      {
        media: {
          fetch: {
            allow: [{ host: '10.0.0.7:80', for: 'results' }, '10.0.0.8:80', { host: '10.0.0.9:80', for: 'inputs' }],
          },
        },
      },
      message(
        'media.fetch.allow.1: clients may name media at the private address 10.0.0.8:80; ' +
          'expected { host: "10.0.0.8:80", for: results } if only results come from there, or for: inputs',
      ),
    ],
    [
      'callbacks at a private address',
      { public_url: 'http://127.0.0.1:8080', channels: [video({ callbacks: true }), relay()] },
      /channels\.0\.callbacks: an upstream elsewhere cannot reach the private public_url/,
    ],
    [
      'callbacks of an adapter that has none',
      { public_url: 'https://gateway.example', channels: [video({ adapter: 'gemini', callbacks: true }), relay()] },
      /channels\.0\.callbacks: the adapter gemini gives its upstream no address/,
    ],
    [
      'a first interval above the longest',
      { tasks: { poll: { first: '20s', max: '5s' } } },
      /tasks\.poll\.max: expected at least tasks\.poll\.first, 20s/,
    ],
    [
      'an alert after the last deadline',
      { tasks: { poll: { soft_deadline: '2d' } } },
      /tasks\.poll\.soft_deadline: expected at most tasks\.poll\.hard_deadline, 24h/,
    ],
    [
      'a wait that outlives staged media',
      { tasks: { queue: { longest_wait: { batch: '49h' } } } },
      /tasks\.queue\.longest_wait\.batch: 49h after a not-before of six days is later than media\.staged\.lifetime, 8d/,
    ],
    [
      'a video model without a channel',
      { models: { 'Alpha-H3': ALPHA, Beta: ALPHA } },
      /models\.Beta: no channel has this model/,
    ],
    [
      'a video model that only relay channels have',
      { models: { 'Alpha-H3': ALPHA, talk: ALPHA } },
      /models\.talk: only relay channels have this model, and they need no entry here; remove it/,
    ],
    [
      'a video model without a price',
      { prices: { talk: PRICES.talk } },
      message(
        'channels.0.models.Alpha-H3: has no price at video.generation: ' +
          'every call is refused with model_price_error; expected prices.Alpha-H3',
      ),
    ],
    [
      'an operation without a price',
      { channels: [video({ endpoints: ['video.generation', 'video.regeneration'] }), relay()] },
      /has no price at video\.regeneration: .*expected prices\.Alpha-H3__regeneration$/,
    ],
    [
      'a relay model without a price',
      { prices: { 'Alpha-H3': PRICES['Alpha-H3'] } },
      /channels\.1\.models\.talk: has no price at chat: .*expected prices\.talk$/,
    ],
    [
      'a price of a model that no channel has',
      { prices: { ...PRICES, gone: { per_request: '1' } } },
      /prices\.gone: no channel has this model at this endpoint/,
    ],
    [
      'a price at an endpoint that no channel has',
      { prices: { ...PRICES, talk__embeddings: { per_request: '1' } } },
      /prices\.talk__embeddings: no channel/,
    ],
    [
      'a token of a model that no channel has',
      { accounts: [{ id: 'demo', tokens: [{ models: ['talk', 'gone'] }] }] },
      /accounts\.0\.tokens\.0\.models\.1: no channel has the model gone/,
    ],
    [
      'a grant of an account that no channel has',
      { accounts: [{ id: 'demo', upstream_accounts: ['gone'] }] },
      /accounts\.0\.upstream_accounts\.0: no channel has the upstream account gone; expected one of: vendor/,
    ],
  ])('%s', (_what, changes, expected) => {
    const { warnings } = read(changes);

    expect(warnings).toEqual([expect.stringMatching(expected)]);
    expect(warnings[0]).toMatch(new RegExp(`^${file}:\\d+: `));
  });
});

test.each<[string, object]>([
  [
    'a price at an endpoint stands for its model',
    { prices: { 'Alpha-H3': PRICES['Alpha-H3'], talk__chat: PRICES.talk } },
  ],
  [
    'billing reads prices and accounts, and neither models nor channels',
    {
      models: {},
      channels: [],
      accounts: [{ id: 'demo', upstream_accounts: ['vendor'], tokens: [{ models: ['talk'] }] }],
    },
  ],
  ['a channel that is switched off needs no price', { channels: [video(), relay({ enabled: false })] }],
  [
    'a channel of several models may have an endpoint that only Alpha-H3 has',
    {
      models: { 'Alpha-H3': ALPHA, Beta: ALPHA },
      channels: [
        video({ models: { 'Alpha-H3': 'a', Beta: 'b' }, endpoints: ['video.generation', 'video.regeneration'] }),
        relay(),
      ],
      prices: { ...PRICES, Beta: { per_second: '1' }, 'Alpha-H3__regeneration': { per_second: '0.05' } },
    },
  ],
])('%s', (_what, changes) => {
  expect(read(changes).warnings).toEqual([]);
});

describe('a service in a process of its own', () => {
  const APART = {
    bus: 'nats://127.0.0.1:4222',
    signing_key: 'the-key-of-every-service',
    tasks: { listen: '127.0.0.1:9101' },
    billing: { listen: '127.0.0.1:9102' },
    media: { listen: '127.0.0.1:9103', http: '127.0.0.1:9113' },
  };

  test.each<[ServiceName, object, RegExp]>([
    ['gateway', { bus: '' }, /bus: services in separate processes need a bus/],
    ['gateway', { signing_key: '' }, /signing_key: services in separate processes need the same key/],
    ['media', { signing_key: '' }, /signing_key: services in separate processes need the same key/],
    ['media', { require_service_key: true }, /signing_key: require_service_key refuses the key of every service here/],
    [
      'media',
      { signing_key: '', require_service_key: true },
      /service_key: require_service_key needs it; expected what `reelgate keys derive --service media` prints$/,
    ],
    [
      'media',
      { service_key: keyOfService('media') },
      /service_key: stands beside signing_key; expected one of the two$/,
    ],
    [
      'media',
      { signing_key: '', service_key: keyOfService('billing') },
      /service_key: holds the keys of billing; expected those of media$/,
    ],
    [
      'media',
      { signing_key: '', service_key: 'the-key-of-every-service' },
      /service_key: is not a service key; expected the output of `reelgate keys derive --service NAME`$/,
    ],
    [
      'gateway',
      { tasks: { listen: '0.0.0.0:9101' } },
      /gateway\.services\.tasks: tasks\.listen is every address.*; expected the address at which gateway calls it, such as tasks:9101$/,
    ],
    ['tasks', { billing: { listen: '[::]:9102' } }, /gateway\.services\.billing: billing\.listen is every address/],
    [
      'gateway',
      { media: { listen: '127.0.0.1:9103', http: '0.0.0.0:9113' } },
      /gateway\.services\.media_http: media\.http is every address.*; expected the address .*, such as media:9113$/,
    ],
    [
      'tasks',
      { media: { listen: '127.0.0.1:9103', http: '0.0.0.0:9113' } },
      /gateway\.services\.media_http: media\.http is every address/,
    ],
    [
      'gateway',
      { gateway: { services: { media: 'media-grpc:9103' } } },
      /gateway\.services\.media_http: media is called on another machine, and 127\.0\.0\.1:9113 is on this one; expected/,
    ],
    ['tasks', { tasks: {} }, /tasks\.listen: a service in its own process is called over gRPC/],
    [
      'media',
      { media: { listen: '127.0.0.1:9103' } },
      /media\.http: a media service in its own process serves bytes over HTTP/,
    ],
  ])('is refused as %s without a setting that it needs: %j', (name, changes, expected) => {
    expect(() => checkStandAlone(read({ ...APART, ...changes }), name)).toThrow(expected);
  });

  test('gets a warning of a sandbox that it does not start, with the channels that point to it', () => {
    const config = read({
      ...APART,
      sandbox: { listen: '127.0.0.1:9200' },
      channels: [video({ base_url: 'http://127.0.0.1:9200' }), relay()],
    });

    expect(checkStandAlone(config, 'tasks')).toEqual([
      expect.stringMatching(
        message(
          'sandbox: only the program with all services starts the sandbox; ' +
            'these channels point to it: main; remove the key',
        ),
      ),
    ]);
  });

  test.each<[ServiceName, object]>([
    ['media', { media: { listen: '0.0.0.0:9103', http: '0.0.0.0:9113' } }],
    ['billing', { tasks: { listen: '0.0.0.0:9101' } }],
    [
      'gateway',
      {
        media: { listen: '0.0.0.0:9103', http: '0.0.0.0:9113' },
        gateway: { services: { media: 'media-grpc:9103', media_http: 'media:9113' } },
      },
    ],
  ])('may listen on every address as %s where no call of it goes there: %j', (name, changes) => {
    expect(checkStandAlone(read({ ...APART, ...changes }), name)).toEqual([]);
  });

  test('gets no warning where nothing is wrong', () => {
    expect(
      (['gateway', 'tasks', 'billing', 'media'] as const).flatMap((name) => checkStandAlone(read(APART), name)),
    ).toEqual([]);
  });
});
