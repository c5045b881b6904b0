import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const MAIN = path.resolve(import.meta.dirname, '../main.ts');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-backup-command-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function reelgate(text: string, ...args: string[]) {
  const file = path.join(folder, 'reelgate.yaml');
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    env: { ...process.env, REELGATE_CONFIG: file, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('with PostgreSQL nothing is copied, the order of the dumps is named, and the exit code is 2', () => {
  const made = path.join(folder, 'made');

  expect(reelgate('billing: { database: "postgres://me:word@127.0.0.1:1/x" }', 'backup', made)).toMatchObject({
    status: 2,
    stdout: expect.stringMatching(
      /^no file was copied: .* PostgreSQL has the stores of: billing\n.*pg_dump for tasks first/s,
    ),
  });
  expect(existsSync(made)).toBe(false);
});

test('without stores nothing is backed up, and without a backup nothing is restored', () => {
  const made = path.join(folder, 'made');

  expect(reelgate('data_dir: ./data', 'backup', made)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /tasks\.sqlite: does not exist; run the backup where the one program has its data_dir/,
    ),
  });
  expect(reelgate('data_dir: ./data', 'restore', made)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/made: has no backup/),
  });
  expect([existsSync(made), existsSync(path.join(folder, 'data'))]).toEqual([false, false]);
});
