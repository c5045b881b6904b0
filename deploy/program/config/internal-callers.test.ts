import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Scope } from '@reelgate/proto/access/v1/access';
import type { KnownCaller } from '@reelgate/platform/rpc/callers';
import { readProgramConfig } from './program-config.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-callers-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const NO_KEY = { key: '' };
const entry = (changes: object = {}) => ({
  name: 'reporting',
  key: 'key-of-reporting',
  accounts: ['demo'],
  ...changes,
});

function callersOf(...entries: readonly object[]): readonly KnownCaller[] {
  const file = path.join(folder, 'reelgate.yaml');
  writeFileSync(file, JSON.stringify({ internal_callers: entries }));
  return readProgramConfig({ REELGATE_CONFIG: file }).internalCallers;
}

describe('an internal caller of the configuration', () => {
  test('that names no scopes may read tasks and nothing else', () => {
    expect(callersOf(entry())).toMatchObject([
      { name: 'reporting', accounts: ['demo'], scopes: new Set([Scope.TASKS_READ]) },
    ]);
  });

  test('has the scopes that it names', () => {
    const scopes = ['tasks.write', 'webhooks.read', 'webhooks.write', 'account.read', 'tokens.write', 'operator'];

    const [caller] = callersOf(entry({ scopes, key: 'reporting-key-0123456789abcdefghi' }));

    expect(caller?.scopes).toEqual(
      new Set([
        Scope.TASKS_WRITE,
        Scope.WEBHOOKS_READ,
        Scope.WEBHOOKS_WRITE,
        Scope.ACCOUNT_READ,
        Scope.TOKENS_WRITE,
        Scope.OPERATOR,
      ]),
    );
  });

  test('with accounts ["*"] is for every account', () => {
    expect(callersOf(entry({ accounts: ['*'] }))[0]?.accounts).toBe('*');
  });

  test('has the name in its certificate instead of a key, or beside it', () => {
    expect(callersOf(entry({ ...NO_KEY, certificate: 'reporting.lab' }))).toMatchObject([
      { certificate: 'reporting.lab', key: undefined },
    ]);
    expect(callersOf(entry({ certificate: 'reporting.lab' }))[0]?.key).toBeDefined();
  });

  test('never prints its key', () => {
    expect(JSON.stringify(callersOf(entry()))).not.toContain('key-of-reporting');
  });

  test.each<[string, readonly object[], RegExp]>([
    [
      'the scope of the money',
      [entry({ scopes: ['tasks.read', 'billing.internal'] })],
      new RegExp(
        String.raw`internal_callers\.0\.scopes\.1: only the services have billing\.internal; ` +
          String.raw`expected one of: tasks\.read, tasks\.write, webhooks\.read, webhooks\.write, ` +
          String.raw`account\.read, tokens\.write, operator$`,
      ),
    ],
    [
      'the scope of the media',
      [entry({ scopes: ['media.internal'] })],
      /internal_callers\.0\.scopes\.0: only the services have media\.internal; expected/,
    ],
    [
      'the scope of the workers',
      [entry({ scopes: ['tasks.internal'] })],
      /internal_callers\.0\.scopes\.0: only the services have tasks\.internal; expected/,
    ],
    [
      'a scope that is none',
      [entry({ scopes: ['admin'] })],
      /internal_callers\.0\.scopes\.0: unknown scope admin; expected one of: tasks\.read/,
    ],
    ['an empty list of scopes', [entry({ scopes: [] })], /internal_callers\.0\.scopes: expected some of: tasks\.read/],
    [
      'every account beside one',
      [entry({ accounts: ['demo', '*'] })],
      /internal_callers\.0\.accounts: "\*" stands for every account; expected \["\*"\], or ids without it$/,
    ],
    [
      'every account without a list',
      [entry({ accounts: '*' })],
      /internal_callers\.0\.accounts: expected a list of ids of accounts, or \["\*"\] for every account/,
    ],
    [
      'neither a key nor a certificate',
      [entry(NO_KEY)],
      /internal_callers\.0: expected a key, or the name in its certificate as certificate$/,
    ],
    [
      'the certificate of another caller',
      [entry({ ...NO_KEY, certificate: 'lab' }), entry({ ...NO_KEY, name: 'other', certificate: 'lab' })],
      /internal_callers\.1\.certificate: expected a certificate that no other caller has$/,
    ],
    [
      'the name of a service',
      [entry({ name: 'gateway' })],
      /internal_callers\.0\.name: gateway is the name of one of the program's own parts; expected another name$/,
    ],
  ])('with %s stops the start', (_what, entries, fault) => {
    expect(() => callersOf(...entries)).toThrow(fault);
  });
});
