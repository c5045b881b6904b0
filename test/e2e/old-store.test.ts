import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { keyHasher } from '@reelgate/billing/app';
import { Secret } from '@reelgate/platform/secret';
import { httpCaller } from '../harness/client.ts';
import { makeOldStores } from '../harness/old-store.ts';
import { KEYS, SIGNING_KEY, testConfig } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { start, stop } from './default-program.ts';

const TIMEOUT_MS = 180_000;
const ROOT = path.join(import.meta.dirname, '../..');
const MAIN = path.join(ROOT, 'deploy/program/main.ts');
const CLI = path.join(ROOT, 'deploy/cli/main.ts');
const PAGE = readFileSync(path.join(ROOT, 'deploy/README.md'), 'utf8');
const TITLE = 'A store from before the first release';
const run = promisify(execFile);
const TRIES_MAX = 5;
const SAID = ['tasks', 'billing', 'media'].map(
  (name) => new RegExp(`${name} +database: .*a Reelgate from before the first release`),
);

const OPENING = [
  'accounts:',
  '  - id: "demo"',
  '    currency: USD',
  '    # 0.5 of its money was held for work that had not ended',
  '    credit: "12.345678901"',
  '    tokens:',
  '      # tok_demo: its key is the key of token 1 of account demo in the configuration',
  '      - {"models":["*"]}',
  '      # tok_half: its key is not in the configuration',
  '      - {"name":"half","models":["Alpha-H3"],"limit":"1.5"}',
  '  - id: "gone"',
  '    currency: EUR',
  '    credit: "7"',
  '  - id: "owes"',
  '    currency: USD',
  '    # it owes money; after the first start run: reelgate account credit owes -1.5 --reason "opening balance"',
  '    credit: "0"',
  '',
];

let folder = '';
let config: TestConfig;
const environment = (files: string) => ({ ...process.env, NODE_OPTIONS: '', REELGATE_CONFIG: files, INIT_CWD: folder });
const at = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-old-'));
  config = await testConfig({ dir: folder, upstream: '127.0.0.1:1' });
  writeFileSync(at('old.yaml'), JSON.stringify(config));
  const [keyHash = ''] = keyHasher([new Secret(SIGNING_KEY)])(KEYS.demo);
  await makeOldStores(config.data_dir, (sql) =>
    sql.transaction(async (query) => {
      const account = 'INSERT INTO accounts VALUES ($1, $2, $3, $4, 1)';
      await query(account, ['demo', 'USD', 12_345_678_901n, 500_000_000n]);
      await query(account, ['gone', 'EUR', 7_000_000_000n, 0]);
      await query(account, ['owes', 'USD', -1_500_000_000n, 0]);
      const token = 'INSERT INTO tokens VALUES ($1, $2, $3, $4, $5, $6, $7, NULL, 1, NULL, $8)';
      await query(token, ['tok_demo', 'demo', '', '["*"]', null, 0, keyHash, null]);
      await query(token, ['tok_half', 'demo', 'half', '["Alpha-H3"]', 2_000_000_000n, 500_000_000n, 'b', null]);
      await query(token, ['tok_used', 'demo', 'used', '["*"]', 1_000_000_000n, 1_000_000_000n, 'c', null]);
      await query(token, ['tok_revoked', 'demo', 'revoked', '["*"]', null, 0, 'd', 5]);
    }),
  );
}, TIMEOUT_MS);
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the commands of the page, as a person types them, in one shell. Returns what each of its code blocks prints. */
async function runPage(block: number, files: string): Promise<string> {
  const section = PAGE.slice(PAGE.indexOf(`## ${TITLE}\n`)).split(/\n## /)[0] ?? '';
  const commands = [...section.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)][block]?.[1] ?? '';
  expect(commands).toContain('reelgate ');
  return runCommands(commands, files);
}

async function runCommands(commands: string, files: string): Promise<string> {
  const script = `set -e\nreelgate() { '${process.execPath}' --disable-warning=ExperimentalWarning '${CLI}' "$@"; }\n${commands}`;
  const { stdout } = await run('bash', ['-c', script], { cwd: folder, env: environment(files) });
  return stdout;
}

test('a start says in words what the store is and where to read on', async () => {
  const { code, stdout, stderr } = await run(process.execPath, [MAIN], {
    env: environment(at('old.yaml')),
  }).then(
    () => ({ code: 0, stdout: '', stderr: '' }),
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );

  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(
    /billing: a Reelgate from before the first release wrote this store \(it has 0001_billing/,
  );
  expect(stdout + stderr).toContain(TITLE);
  expect(stdout + stderr).not.toMatch(/\n +at |"stack"/);
});

test(
  'the doctor says it too, and so does reelgate migrate',
  async () => {
    const call = (...args: string[]) =>
      run(process.execPath, [CLI, ...args], { env: environment(at('old.yaml')) }).catch(
        (error: unknown) => error as { stdout: string; stderr: string },
      );

    const migrate = await call('migrate', 'media', '--check');
    // on a busy machine the doctor can start so late that it has no time for the stores
    let doctor = await call('doctor');
    for (let tries = 1; tries < TRIES_MAX && !SAID.every((line) => line.test(doctor.stdout)); tries += 1)
      doctor = await call('doctor');

    for (const line of SAID) expect(doctor.stdout).toMatch(line);
    expect(migrate.stderr).toMatch(/^media: a Reelgate from before the first release wrote this store/);
    expect(migrate.stderr).not.toMatch(/\n +at /);
  },
  TIMEOUT_MS,
);

test(
  'the steps of the page carry balances and tokens over into a new store, whose ledger balances',
  async () => {
    await runPage(0, at('old.yaml'));
    const opening = readFileSync(at('opening.yaml'), 'utf8');
    expect(opening.split('\n').slice(2)).toEqual(OPENING);

    const { accounts: _accounts, ...rest } = config;
    const data = at('new-data');
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(at('new.yaml'), JSON.stringify({ ...rest, data_dir: data }));
    const keyed = opening.replace('- {"models":["*"]}', `- {"models":["*"],"key":"${KEYS.demo}"}`);
    writeFileSync(at('opening.yaml'), keyed);
    const files = `${at('new.yaml')}:${at('opening.yaml')}`;
    const program = start(files);
    try {
      const printed = await program.ready;
      expect(printed.match(/^token.*: rg_/gm)).toHaveLength(1);

      const [, debt = ''] = /after the first start run: reelgate (.*)/.exec(opening) ?? [];
      await runCommands(`reelgate ${debt}`, files);
      const compared = await runPage(1, files);

      expect(compared).toMatch(/demo +USD +12\.345678901 +12\.345678901 +0 /);
      expect(compared).toMatch(/gone +EUR +7 +7 +0 /);
      expect(compared).toMatch(/owes +USD +-1\.5 +-1\.5 +0 /);
      const { status } = await httpCaller(config.public_url, KEYS.demo).call('GET', '/v1/models');
      expect(status).toBe(200);
    } finally {
      await stop(program.child);
    }
  },
  TIMEOUT_MS,
);
