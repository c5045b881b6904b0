import { expect, test } from '@jest/globals';
import { CONFIG_SCHEMA } from './program-schema.ts';
import { maskSecrets } from './describe-configuration.ts';

interface Schema {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

const LOOKS_SECRET = /key|secret|passw|passphrase|token|credential|authorization|headers|signature|pin$/i;
/** Texts whose names look like those of secrets and are none: amounts, limits and durations. */
const NO_SECRETS: ReadonlySet<string> = new Set([
  'accounts.tokens.name',
  'accounts.tokens.models',
  'accounts.tokens.limit',
  'accounts.tokens.confirm_above',
  'accounts.tokens.expires',
  'media.fetch.timeouts.headers',
]);

/** The price of a million tokens is no token. */
const PRICE = /\.per_million_tokens\.\w+$/;

/** A configuration with the same text at every key, and the paths of its keys. */
function filled(schema: Schema, path: readonly string[], paths: string[]): unknown {
  if (schema.properties !== undefined)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([key, inner]) => [key, filled(inner, [...path, key], paths)]),
    );
  if (schema.items !== undefined) return [filled(schema.items, path, paths)];
  if (typeof schema.additionalProperties === 'object')
    return { x: filled(schema.additionalProperties, [...path, 'x'], paths) };
  if (schema.enum === undefined && (schema.type === 'string' || schema.type === undefined)) paths.push(path.join('.'));
  return schema.enum === undefined && schema.type !== 'integer' && schema.type !== 'boolean' ? 'a-text' : 1;
}

function textsIn(value: unknown, path: readonly string[]): [string, unknown][] {
  if (Array.isArray(value)) return value.flatMap((one) => textsIn(one, path));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]));
  return [[path.join('.'), value]];
}

test('every key of the schema that looks like a secret is masked, or is named here as none', () => {
  const paths: string[] = [];
  const shown = new Map(textsIn(maskSecrets(filled(CONFIG_SCHEMA, [], paths)), []));
  const secret = paths.filter((path) => LOOKS_SECRET.test(path) && !NO_SECRETS.has(path) && !PRICE.test(path));
  expect(secret.length).toBeGreaterThan(10);
  expect(secret.filter((path) => shown.get(path) !== '***')).toEqual([]);
});

test.each([
  ['a password of a database', 'postgres://app:pass@db:5432/x', 'postgres://***@db:5432/x'],
  ['a password with an at sign', 'redis://:p@ss@cache:6379', 'redis://***@cache:6379'],
  ['passwords of several hosts', 'nats://a:b@one,nats://c:d@two', 'nats://***@one,nats://***@two'],
  ['credentials in a query', 'https://hooks.example/x?sig=abc&v=1', 'https://hooks.example/x?***'],
  ['credentials before a host alone', 'user:pass@nats-1:4222', '***@nats-1:4222'],
  ['nothing of a plain address', 'https://vendor.example/v1', 'https://vendor.example/v1'],
  ['nothing of a path', './data/tasks.db', './data/tasks.db'],
])('%s is not shown', (_what, text, shown) => {
  expect(maskSecrets({ somewhere: [text] })).toEqual({ somewhere: [shown] });
});

test('headers are masked under any name, and the rights of a token are shown', () => {
  const value = {
    tracing: { headers: { 'x-team': 'secret' } },
    accounts: [{ tokens: [{ tokens: 'write', key: 'k' }] }],
  };
  expect(maskSecrets(value)).toEqual({
    tracing: { headers: { 'x-team': '***' } },
    accounts: [{ tokens: [{ tokens: 'write', key: '***' }] }],
  });
});
