import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readConfigFile } from '@reelgate/platform/config/config-file';
import { aConfig } from '../testing/open-billing.ts';
import { billingConfig, billingSchema } from './config.ts';
import type { BillingConfig } from './config.ts';
import { parseTerms } from './domain/price-terms.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-billing-config-'));
const file = path.join(folder, 'reelgate.yaml');
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function read(yaml: string, environment: Record<string, string> = {}): BillingConfig {
  writeFileSync(file, yaml);
  return billingConfig(
    readConfigFile(file, { type: 'object', additionalProperties: false, properties: billingSchema }, environment).value,
  );
}

const EXAMPLE = `
billing:
  listen: 127.0.0.1:9102
  http: 127.0.0.1:9112
  database: \${BILLING_DATABASE_URL:-}
prices:
  Alpha-H3: { per_second: { 768P: "0.08", 2K: "0.13" }, images: { free: 5, each: "0.04" } }
  Alpha-H3__regeneration: { per_second: "0.05" }
  Alpha-H3__context_ir: { per_million_tokens: { input: "0.90", output: "3.60" }, hold: "0.05" }
accounts:
  - id: demo
    credit: "100.00"
    tokens:
      - { key: \${REELGATE_API_KEY:-}, models: ["*"] }
      - { key: sk-given, models: [Alpha-H3], name: ci, limit: "10.00", expires: 2027-01-31, queue: { class: batch }, confirm_above: "0.50" }
`;

describe('the configuration', () => {
  test('of the example is accepted', () => {
    const { store, overrunFactor, prices, accounts } = read(EXAMPLE);

    expect(store.url).toBeUndefined();
    expect(overrunFactor).toBe(10);
    expect(prices).toEqual([
      { key: 'Alpha-H3', terms: { per_second: { '768P': '0.08', '2K': '0.13' }, images: { free: 5, each: '0.04' } } },
      { key: 'Alpha-H3__regeneration', terms: { per_second: '0.05' } },
      { key: 'Alpha-H3__context_ir', terms: { per_million_tokens: { input: '0.90', output: '3.60' }, hold: '0.05' } },
    ]);
    expect(accounts).toMatchObject([
      {
        id: 'demo',
        currency: 'USD',
        credit: 100_000_000_000n,
        tokens: [
          {
            key: undefined,
            models: ['*'],
            name: '',
            limit: undefined,
            expiresAt: undefined,
            webhooks: 'write',
            tokens: 'none',
            queue: { wait: 'channels', class: 'standard' },
          },
          {
            models: ['Alpha-H3'],
            name: 'ci',
            limit: 10_000_000_000n,
            expiresAt: Date.UTC(2027, 0, 31),
            queue: { wait: 'channels', class: 'batch' },
            confirmAbove: 500_000_000n,
          },
        ],
      },
    ]);
    expect(accounts[0]?.tokens[1]?.key?.reveal()).toBe('sk-given');
  });

  test('prints neither the keys nor the address of the database', () => {
    const config = read(EXAMPLE, {
      BILLING_DATABASE_URL: 'postgres://me:pass@db/billing',
      REELGATE_API_KEY: 'sk-secret-1',
    });

    expect(config.store.url?.reveal()).toBe('postgres://me:pass@db/billing');
    expect(JSON.stringify(config, (_key, value) => (typeof value === 'bigint' ? String(value) : value))).not.toMatch(
      /pass|sk-/,
    );
  });

  test('includes the models of the list and of the channels', () => {
    expect(
      billingConfig({
        ...aConfig(),
        models: { 'Alpha-H3': {} },
        channels: [{ models: { 'my__chat-model': 'up', my_other: 'up' } }],
      }).models,
    ).toEqual(new Set(['Alpha-H3', 'my__chat-model', 'my_other']));
  });

  test.each([
    [{ a: {}, a__b: {} }, [], 'models.a__b: expected a name that does not begin with a__'],
    [
      { a: {} },
      [{ models: { c: 'up' } }, { models: { a__chat: 'up' } }],
      'channels.1.models.a__chat: expected a name that does not begin with a__',
    ],
  ])('is refused with a model name that reads as a price key of another model', (models, channels, message) => {
    expect(() => billingConfig({ ...aConfig(), models, channels })).toThrow(message);
  });

  test('may be empty', () => {
    expect(read('{}')).toEqual({
      store: expect.objectContaining({ name: 'billing', url: undefined, mode: 'run' }),
      overrunFactor: 10,
      sendAheadMax: 1_000_000_000n,
      prices: [],
      accounts: [],
      models: new Set(),
      upstreamPrices: new Map(),
    });
  });

  test('has the upstream prices of each channel by price key', () => {
    const channels = [
      { id: 'vendor', models: { a: 'up' }, upstream_prices: { a: { per_second: '0.05' }, a__b: { per_request: '1' } } },
      { id: 'unpriced', models: { a: 'up' } },
    ];

    expect(billingConfig({ ...aConfig(), channels }).upstreamPrices).toEqual(
      new Map([
        [
          'vendor',
          new Map([
            ['a', parseTerms({ per_second: '0.05' })],
            ['a__b', parseTerms({ per_request: '1' })],
          ]),
        ],
        ['unpriced', new Map()],
      ]),
    );
  });

  test.each([
    ['of a model that the channel does not have', { c: { per_second: '1' } }, 'c: expected a price key of a model'],
    ['out of bounds', { a: { per_second: '1000000001' } }, 'a.per_second: expected at most "1000000000"'],
    [
      'that is a hold alone',
      { a: { per_request: '1', hold: '1' } },
      'a: expected per_million_tokens or per_second beside hold',
    ],
  ])('is refused with an upstream price %s', (_what, prices, message) => {
    const channels = [{ id: 'vendor', models: { a: 'up' }, upstream_prices: prices }];

    expect(() => billingConfig({ ...aConfig(), channels })).toThrow(`channels.0.upstream_prices.${message}`);
  });

  test.each([
    ['an unquoted price', 'prices: { a: { per_second: 0.08 } }', /prices\.a\.per_second: expected a decimal in quotes/],
    [
      'an unquoted price of a resolution',
      'prices: { a: { per_second: { 2K: 0.13 } } }',
      /prices\.a\.per_second\.2K: expected a decimal in quotes/,
    ],
    [
      'an unquoted price for tokens',
      'prices: { a: { per_million_tokens: { input: 1, output: "1" } } }',
      /prices\.a\.per_million_tokens\.input: expected a decimal in quotes/,
    ],
    [
      'an unquoted credit',
      'accounts: [{ id: a, credit: 100.00 }]',
      /accounts\.0\.credit: expected a decimal in quotes/,
    ],
    [
      'an unquoted limit',
      'accounts: [{ id: a, tokens: [{ models: [x], limit: 10 }] }]',
      /accounts\.0\.tokens\.0\.limit: expected a decimal in quotes/,
    ],
    [
      'too many decimal places',
      'prices: { a: { per_second: "0.0000000001" } }',
      /prices\.a\.per_second: expected a decimal in quotes/,
    ],
    ['a negative price', 'prices: { a: { per_second: "-1" } }', /prices\.a\.per_second: expected a decimal/],
    [
      'a price out of bounds',
      'prices: { a: { per_second: { 2K: "1000000001" } } }',
      /prices\.a\.per_second\.2K: expected at most "1000000000"/,
    ],
    ['a credit out of bounds', 'accounts: [{ id: a, credit: "99999999999" }]', /accounts\.0\.credit: expected at most/],
    ['a price without any term', 'prices: { a: {} }', /prices\.a/],
    [
      'an unknown term',
      'prices: { a: { per_minute: "1" } }',
      /prices\.a\.per_minute: no such key; expected one of: per_second/,
    ],
    [
      'only one of the two token prices',
      'prices: { a: { per_million_tokens: { input: "1" } } }',
      /the key output is missing/,
    ],
    [
      'a hold price without a price for tokens or seconds',
      'prices: { a: { per_request: "1", hold: "1" } }',
      /prices\.a: .*per_million_tokens/,
    ],
    [
      'a fractional number of free images',
      'prices: { a: { images: { free: 1.5, each: "1" } } }',
      /prices\.a\.images\.free/,
    ],
    ['an account id that cannot name a book', 'accounts: [{ id: "a:b" }]', /accounts\.0\.id: expected 1 to 64 letters/],
    [
      'a repeated account id',
      'accounts: [{ id: a }, { id: a }]',
      /accounts\.1\.id: expected an id that no other account has/,
    ],
    [
      'a repeated key',
      'accounts: [{ id: a, tokens: [{ key: same-key, models: [x] }] }, ' +
        '{ id: b, tokens: [{ key: same-key, models: [x] }] }]',
      /accounts\.1\.tokens\.0\.key: expected a key that no other token has/,
    ],
    [
      'a short key',
      'accounts: [{ id: a, tokens: [{ key: seven77, models: [x] }] }]',
      /accounts\.0\.tokens\.0\.key: expected 8 to 256 visible ASCII characters/,
    ],
    [
      'a blank in a key',
      'accounts: [{ id: a, tokens: [{ key: "nine char", models: [x] }] }]',
      /accounts\.0\.tokens\.0\.key: expected 8 to 256/,
    ],
    [
      'a token without models',
      'accounts: [{ id: a, tokens: [{ key: eight888 }] }]',
      /accounts\.0\.tokens\.0: the key models is missing/,
    ],
    [
      'a limit of zero',
      'accounts: [{ id: a, tokens: [{ models: [x], limits: { in_flight: 0 } }] }]',
      /accounts\.0\.tokens\.0\.limits\.in_flight: expected a whole number from 1/,
    ],
    [
      'an unknown limit',
      'accounts: [{ id: a, tokens: [{ models: [x], limits: { writes_per_minute: 1 } }] }]',
      /limits\.writes_per_minute: no such key; expected one of: creates_per_minute/,
    ],
    [
      'a word instead of a date',
      'accounts: [{ id: a, tokens: [{ models: [x], expires: tomorrow }] }]',
      /accounts\.0\.tokens\.0\.expires: expected a date/,
    ],
    [
      'a date that does not exist',
      'accounts: [{ id: a, tokens: [{ models: [x], expires: 2026-02-30 }] }]',
      /accounts\.0\.tokens\.0\.expires: expected a day that exists/,
    ],
    [
      'a word instead of a currency code',
      'accounts: [{ id: a, currency: dollars }]',
      /accounts\.0\.currency: expected an ISO 4217 code/,
    ],
    ['an unknown key', 'billing: { port: 1 }', /billing\.port: no such key/],
    [
      'a discount above the whole',
      'prices: { a: { per_second: "1", class_discounts: { batch: "1.1" } } }',
      /prices\.a\.class_discounts\.batch: expected a decimal from "0" to "1"/,
    ],
    [
      'a discount of another class',
      'prices: { a: { per_second: "1", class_discounts: { standard: "0.5" } } }',
      /prices\.a\.class_discounts/,
    ],
    ['a discount of no price', 'prices: { a: { class_discounts: { batch: "0.5" } } }', /prices\.a: expected a price/],
    [
      'a discount beside the price that it makes',
      'prices: { a: { per_second: "1", class_discounts: { batch: "0.5" } }, a__batch: { per_second: "1" } }',
      /prices\.a\.class_discounts\.batch: expected it, or the price a__batch, but not both/,
    ],
    ['an overrun factor of zero', 'billing: { overrun_factor: 0 }', /billing\.overrun_factor/],
    ['an invalid database address', 'billing: { database: mysql://x }', /billing\.database: expected a PostgreSQL URL/],
  ])('is refused with %s', (_what, yaml, message) => {
    expect(() => read(yaml)).toThrow(message);
  });

  test.each([8, 256])('accepts a key of %d characters', (length) => {
    expect(
      read(
        `accounts: [{ id: a, tokens: [{ key: ${'k'.repeat(length)}, models: [] }] }]`,
      ).accounts[0]?.tokens[0]?.key?.reveal(),
    ).toHaveLength(length);
  });
});
