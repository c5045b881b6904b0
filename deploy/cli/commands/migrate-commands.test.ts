import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openPostgres } from '@reelgate/platform/sql/postgres';
import { openSqlite } from '@reelgate/platform/sql/sqlite';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { pgBouncerServer } from '../../../test/servers/pgbouncer-server.ts';

const MAIN = path.resolve(import.meta.dirname, '../main.ts');
const MIGRATIONS = path.resolve(import.meta.dirname, '../../../services/billing/migrations');
const NEWER = "INSERT INTO schema_migrations (name, checksum) VALUES ('9998_newer.sql', 'x')";
const CONTRACT = "INSERT INTO schema_contracts (name, needs) VALUES ('9999_contract.sql', '9998_newer.sql')";

let folder = '';
let file = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-migrate-command-'));
  file = path.join(folder, 'reelgate.yaml');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function reelgate(text: string, ...args: string[]) {
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'migrate', ...args], {
    env: { ...process.env, REELGATE_CONFIG: file, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('an embedded store is checked without being made, migrated, and then in order', () => {
  const yaml = 'data_dir: ./data';

  const { status, stdout } = reelgate(yaml, 'billing', '--check');
  expect([status, stdout.split('\n')[0]]).toEqual([1, 'billing: pending 0001_billing.sql']);
  expect(existsSync(path.join(folder, 'data'))).toBe(false);
  expect(reelgate(yaml, 'billing')).toMatchObject({
    status: 0,
    stdout: readdirSync(MIGRATIONS)
      .map((name) => `billing: applied ${name}\n`)
      .join(''),
  });
  expect(reelgate(yaml, 'billing')).toMatchObject({ status: 0, stdout: 'billing: nothing to apply\n' });
  expect(reelgate(yaml, 'billing', '--check')).toMatchObject({ status: 0, stdout: 'billing: nothing is pending\n' });
});

test('a store of the next release is in order; one that needs a newer program is refused by name', async () => {
  const yaml = 'data_dir: ./newer';
  expect(reelgate(yaml, 'media').status).toBe(0);
  const sql = openSqlite(path.join(folder, 'newer/media.sqlite'));
  await sql.write(NEWER);

  expect(JSON.parse(reelgate(yaml, 'media', '--check', '--json').stdout)).toEqual({
    service: 'media',
    ok: true,
    pending: [],
    newer: ['9998_newer.sql'],
  });
  await sql.write(CONTRACT);
  await sql.close();
  expect(reelgate(yaml, 'media')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^media: a newer release wrote this store: 9999_contract\.sql needs a program with/),
  });
});

test.each([[[]], [['gateway']], [['tasks', 'media']]])('%j is called wrongly', (words) => {
  expect(reelgate('data_dir: ./data', ...words)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^name one of: tasks, billing, media\n/),
  });
});

test('a database that is away is named, without its address and without a stack', () => {
  const { status, stdout, stderr } = reelgate('tasks: { database: "postgres://me:word@127.0.0.1:1/x" }', 'tasks');

  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^tasks cannot use the database x at 127\.0\.0\.1:1 as the role me: [^\n]+\n$/);
  expect(stderr).not.toContain('word');
});

describeWith(pgBouncerServer, 'reelgate migrate', (url) => {
  test('brings a database up to date through a pooler', async () => {
    const database = await createDatabase(url(), 'migrated');
    const yaml = `tasks: { database: "${database}" }`;

    expect(reelgate(yaml, 'tasks', '--check')).toMatchObject({ status: 1 });
    expect(reelgate(yaml, 'tasks')).toMatchObject({ status: 0 });
    expect(reelgate(yaml, 'tasks', '--check')).toMatchObject({ status: 0 });
    const sql = openPostgres(database);
    expect(await sql.read('SELECT COUNT(*) AS rows FROM tasks')).toEqual([{ rows: 0 }]);
    await sql.close();
  });
});
