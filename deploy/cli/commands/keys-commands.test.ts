import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { readServiceKey } from '../../program/keys/service-key.ts';
import { SERVICE_NAMES } from '../../program/keys/identities.ts';

const MAIN = path.resolve(import.meta.dirname, '../main.ts');
const SIGNING_KEY = 'signing-key-of-the-test-0123456789';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-keys-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function derive(config: object, ...words: readonly string[]) {
  const file = path.join(folder, 'reelgate.yaml');
  writeFileSync(file, JSON.stringify(config));
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'keys', 'derive', ...words], {
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning', REELGATE_CONFIG: file },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test.each(SERVICE_NAMES)('the keys of %s are printed alone, and do not hold the signing key', (service) => {
  const { status, stdout } = derive({ signing_key: SIGNING_KEY }, '--service', service);
  const [key = '', ...rest] = stdout.split('\n');

  expect([status, rest]).toEqual([0, ['']]);
  expect(readServiceKey(new Secret(key))?.service).toBe(service);
  expect(Buffer.from(key.split('.')[1] ?? '', 'base64url').toString()).not.toContain(SIGNING_KEY);
});

test.each([
  ['without a service', { signing_key: SIGNING_KEY }, [], /--service/],
  ['for a service that does not exist', { signing_key: SIGNING_KEY }, ['--service', 'mail'], /--service.*gateway/],
  ['from the keys of a service', undefined, ['--service', 'media'], /has a service_key.*from signing_key alone/],
])('no keys are derived %s', (_what, config, words, message) => {
  const [own = ''] = derive({ signing_key: SIGNING_KEY }, '--service', 'media').stdout.split('\n');
  const { status, stdout, stderr } = derive(config ?? { service_key: own }, ...words);

  expect(status).not.toBe(0);
  expect(stdout).toBe('');
  expect(stderr).toMatch(message);
});
