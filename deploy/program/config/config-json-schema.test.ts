/* eslint-disable no-template-curly-in-string -- a variable of the file looks like one of the language */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { isNetwork } from '@reelgate/platform/source-address';
import { parseBytes, parseDuration, parseHostPort } from '@reelgate/platform/config/units';
import { testConfig } from '../../../test/harness/test-config.ts';
import { CONFIG_SCHEMA } from './program-schema.ts';
import { configJsonSchema } from './config-json-schema.ts';
import { errorsOf, isSchema, parseYaml } from './testing/published-schema.ts';
import { SETTINGS } from './testing/settings.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const LOCAL = path.join(ROOT, 'deploy/local');
const read = (...names: string[]): string => readFileSync(path.join(...names), 'utf8');

test('the schema in the repository is the one that the tables give; npm run gen:config writes it', () => {
  expect(JSON.parse(read(LOCAL, 'reelgate.schema.json'))).toEqual(configJsonSchema());
});

test('the schema of the reader is a JSON Schema, which no start checks', () => {
  expect(isSchema(CONFIG_SCHEMA)).toBe(true);
  expect(isSchema({ properties: { listen: { type: 'text' } } })).toBe(false);
});

test.each(readdirSync(LOCAL).filter((name) => name.endsWith('.yaml')))(
  '%s names the schema for editors, and is accepted by it',
  (name) => {
    const text = read(LOCAL, name);

    expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/reelgate\.schema\.json\n/);
    expect(errorsOf(parseYaml(text))).toEqual([]);
  },
);

test('the configuration of the tests is accepted', async () => {
  const config = await testConfig({ dir: '/tmp', upstream: '127.0.0.1:9200', bus: 'nats://127.0.0.1:4222' });

  expect(errorsOf(config)).toEqual([]);
});

const settings = SETTINGS.map(({ path: keys }) => keys);

/** A file that holds only the value at the path. */
function fileWith(keys: readonly string[], value: unknown): unknown {
  return keys.reduceRight<unknown>((inner, key, at) => {
    const isList = [
      'channels',
      'accounts',
      'internal_callers',
      'operators',
      'other_signing_keys',
      'tokens',
      'allow',
    ].includes(keys[at - 1] ?? '');
    return key === '*' && isList ? [inner] : { [key === '*' ? 'any' : key]: inner };
  }, value);
}

test('every setting of the configuration reader is in the schema', () => {
  expect(settings.length).toBeGreaterThan(150);
  const unknown = settings
    .filter((keys) => keys.at(-1) !== '*')
    .filter((keys) => errorsOf(fileWith(keys, undefined)).some((error) => /additional properties/.test(error)));

  expect(unknown.map((keys) => keys.join('.'))).toEqual([]);
});

test('every section refuses a key that the reader does not know', () => {
  const sections = [
    [],
    ...SETTINGS.filter(({ schema }) => schema.properties !== undefined).map(({ path: keys }) => keys),
  ];
  expect(sections.length).toBeGreaterThan(20);

  for (const keys of sections)
    expect([keys, errorsOf(fileWith([...keys, 'frobnicate'], 1)).join()]).toEqual([
      keys,
      expect.stringContaining('must NOT have additional properties'),
    ]);
});

describe('a value', () => {
  test.each<[string, unknown]>([
    ['a variable for a number', { gateway: { limits: { creates_per_minute: '${CREATES:-60}' } } }],
    [
      'a variable for a choice',
      { models: { a: { kind: '${KIND}', duration: [4, 15], resolutions: ['768P'], ratios: ['16:9'] } } },
    ],
    ['a variable within an address', { tasks: { listen: '${HOST}:9101' } }],
    ['an empty value', { signing_key: '', bus: null, gateway: { limits: null } }],
    ['one price for each resolution', { prices: { a: { per_second: { '768P': '0.08' } } } }],
  ])('%s is accepted', (_what, value) => {
    expect(errorsOf(value)).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['a number in quotes', { gateway: { limits: { creates_per_minute: '60' } } }],
    ['a duration without its unit', { tasks: { retention: '90' } }],
    ['a price without quotes', { prices: { a: { per_request: 0.08 } } }],
    ['an adapter that does not exist', { channels: [{ id: 'a', adapter: 'frobnicate' }] }],
    [
      'a video channel without its upstream account',
      {
        channels: [
          {
            id: 'a',
            adapter: 'ark',
            base_url: 'https://a.example',
            api_key: 'k',
            endpoints: ['video.generation'],
            models: { a: 'b' },
          },
        ],
      },
    ],
  ])('%s is refused', (_what, value) => {
    expect(errorsOf(value)).not.toEqual([]);
  });
});

test.each<[string, (text: string) => unknown, string[]]>([
  ['duration', parseDuration, ['200ms', '3s', '7d', '3', '1.5s', 'soon', '']],
  ['bytes', parseBytes, ['512', '64MiB', '2GiB', '64MB', 'big', '']],
  ['network', (text) => isNetwork(text) || undefined, ['10.0.0.0/8', '10.0.0.1', '2001:db8::/32', '::1', 'name', '']],
  ['host-port', parseHostPort, ['127.0.0.1:80', '[::1]:80', 'name:8080', ':80', 'name', 'a b:1']],
])('the pattern of a %s accepts what the reader accepts', (format, parser, texts) => {
  const { pattern } = (
    {
      duration: { pattern: /"pattern":"(\^\\\\d\+\(ms[^"]*)"/ },
      bytes: { pattern: /"pattern":"(\^\\\\d\+\(B[^"]*)"/ },
      network: { pattern: /"pattern":"(\^\[0-9a-fA-F:\.\][^"]*)"/ },
      'host-port': { pattern: /"pattern":"(\^\(\\\\\[[^"]*)"/ },
    } as const
  )[format as 'duration'];
  const [, source = ''] = pattern.exec(JSON.stringify(configJsonSchema())) ?? [];
  const published = new RegExp(JSON.parse(`"${source}"`) as string);

  expect(source).not.toBe('');
  for (const text of texts) expect([text, published.test(text)]).toEqual([text, parser(text) !== undefined]);
});
