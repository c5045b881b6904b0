import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { billingConfig } from '@reelgate/billing/config';
import { gatewayConfig } from '@reelgate/gateway/config';
import { mediaConfig } from '@reelgate/media/config';
import type { ConfigFile } from '@reelgate/platform/config/config-file';
import { tasksConfig } from '@reelgate/tasks/config';
import { CONFIG_SCHEMA } from './program-schema.ts';
import { programConfig } from './program-config.ts';
import { SETTINGS } from './testing/settings.ts';
import type { SettingSchema } from './testing/settings.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const BY_FORMAT: Readonly<Record<string, string>> = {
  duration: '1s',
  bytes: '1MiB',
  network: '10.0.0.0/8',
  'host-port': '127.0.0.1:1',
  decimal: '1',
};
/** Settings whose readers need more than a word. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  blobs: 's3://bucket/folder?endpoint=http://127.0.0.1:1&region=one',
  database: 'postgres://127.0.0.1/name',
  expires: '2027-01-31',
  allow: ['127.0.0.1:1'],
  dns_servers: ['127.0.0.1'],
  ffmpeg: 'off',
  servers: ['nats://127.0.0.1:1'],
  scopes: ['tasks.read'],
  options: {},
};

interface SampledSchema extends SettingSchema {
  readonly type?: unknown;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly minItems?: number;
  readonly minimum?: number;
}

/** Such a setting tells its reader nothing. */
function hasOneValue(schema: SampledSchema): boolean {
  return schema.enum?.length === 1;
}

/** A value with every key of the schema. */
function sampleOf(schema: SampledSchema, name = ''): unknown {
  const { properties, items, additionalProperties, type } = schema;
  if (Object.hasOwn(BY_NAME, name)) return BY_NAME[name];
  if (schema.enum !== undefined) return schema.enum[0];
  if (items !== undefined) return Array.from({ length: schema.minItems ?? 1 }, () => sampleOf(items));
  if (properties !== undefined)
    return Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, sampleOf(inner, key)]));
  if (type === 'object') return { any: sampleOf(additionalProperties as SampledSchema) };
  return schema.default ?? scalarOf(schema);
}

function scalarOf({ type, format = '', minimum = 1 }: SampledSchema): unknown {
  if (type === 'boolean') return true;
  return type === 'integer' || type === 'number' ? minimum : (BY_FORMAT[format] ?? 'word');
}

/** The value, and the path of each key that is read of it. `*` stands for an item or for a key of any name. */
function watched(whole: unknown): { readonly value: unknown; readonly read: ReadonlySet<string> } {
  const read = new Set<string>();
  const watch = (value: unknown, at: readonly string[]): unknown =>
    typeof value !== 'object' || value === null
      ? value
      : new Proxy(value, {
          get: (target, key) => {
            const inner: unknown = Reflect.get(target, key);
            if (typeof key === 'symbol' || !Object.hasOwn(target, key)) return inner;
            const path = [...at, isNamed(at) ? '*' : key];
            read.add(path.join('.'));
            return watch(inner, path);
          },
        });
  const isNamed = (at: readonly string[]): boolean => KEYED.has(at.join('.'));
  return { value: watch(whole, []), read };
}

const KEYED = new Set(
  SETTINGS.filter(({ path }) => path.at(-1) === '*').map(({ path }) => path.slice(0, -1).join('.')),
);

/** The names of a config and of its sections, but for the raw file, and for `tls`, which the program reads there. */
function listNames(config: object): readonly string[] {
  return Object.entries(config).flatMap(([name, value]) =>
    ['value', 'file', 'tls'].includes(name) ? [] : [name, ...(isSection(value) ? listNames(value) : [])],
  );
}

const isSection = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function readProductFiles(): readonly string[] {
  return ['services', 'deploy'].flatMap((folder) =>
    globSync(`${folder}/**/*.ts`, { cwd: ROOT, exclude: (name) => name === 'node_modules' || name === 'testing' })
      .filter((name) => !name.endsWith('.test.ts'))
      .map((name) => readFileSync(path.join(ROOT, name), 'utf8')),
  );
}

/** A file with every setting, and a channel of each service. */
function wholeFile(): object {
  const sample = sampleOf(CONFIG_SCHEMA as SampledSchema) as {
    readonly channels: readonly object[];
    readonly media: { readonly fetch: object };
  };
  const fetch = { ...sample.media.fetch, allow: [{ host: '127.0.0.1:1', for: 'results' }] };
  return {
    ...sample,
    channels: sample.channels.flatMap((one) => [one, { ...one, adapter: 'relay' }]),
    media: { ...sample.media, fetch },
  };
}

/** Reads the file as the program and each service do. */
function readAll(value: unknown): readonly object[] {
  const file = { files: ['/etc/reelgate.yaml'], value, resolve: (_keys: unknown, relative: string) => relative };
  return [
    programConfig(file as unknown as ConfigFile, []),
    gatewayConfig(value),
    tasksConfig(value, 'http://127.0.0.1:8080'),
    billingConfig(value),
    mediaConfig(value),
  ];
}

test('every setting is read by the program or by a service', () => {
  const { value, read } = watched(wholeFile());

  readAll(value);

  const settings = SETTINGS.filter(({ path, schema }) => path.at(-1) !== '*' && !hasOneValue(schema));
  expect(settings.map(({ path }) => path.join('.')).filter((key) => !read.has(key))).toEqual([]);
});

test('every value that is read is used by a file that does not define settings', () => {
  const used = new Set(
    readProductFiles()
      .filter((text) => !text.includes("config/settings'"))
      .flatMap((text) => text.match(/[A-Za-z]\w*/g) ?? []),
  );
  const names = new Set(readAll(wholeFile()).flatMap(listNames));

  expect(names.size).toBeGreaterThan(150);
  expect([...names].filter((name) => !used.has(name))).toEqual([]);
});
