import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSqlite } from './sqlite.ts';
import type { Sql } from './sql.ts';

const ROWS = 300;
/** Longer than a page, so that its end stands in a page of its own. */
const LONG = 'lorem ipsum '.repeat(400);
const secretOf = (row: number): string => `begin-${row} ${LONG} end-${row} `;

let folder = '';
let file = '';
let sql: Sql;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-erasing-'));
  file = path.join(folder, 'a.sqlite');
  sql = openSqlite(file);
  await sql.write('CREATE TABLE prompts (id INTEGER PRIMARY KEY, text TEXT)');
  for (let row = 0; row < ROWS; row += 1)
    await sql.write('INSERT INTO prompts (id, text) VALUES ($1, $2)', [row, secretOf(row)]);
});
afterEach(async () => {
  await sql.close();
  rmSync(folder, { recursive: true });
});

/** The rows of which a word stands in the files. */
function listSeen(): readonly number[] {
  const bytes = readFileSync(file, 'latin1') + readFileSync(`${file}-wal`, 'latin1');
  const words = new Set(bytes.match(/(begin|end)-\d+ /g));
  return Array.from({ length: ROWS }, (_row, row) => row).filter(
    (row) => words.has(`begin-${row} `) || words.has(`end-${row} `),
  );
}
async function removeEven(): Promise<void> {
  await sql.write("UPDATE prompts SET text = '{}' WHERE id % 4 = 0");
  await sql.write('DELETE FROM prompts WHERE id % 4 = 2');
}
const ODD = Array.from({ length: ROWS / 2 }, (_row, at) => 2 * at + 1);

test('nothing of what is removed stays in the files once the log is empty', async () => {
  await removeEven();
  expect(listSeen()).toHaveLength(ROWS);

  expect(await sql.emptyLog()).toBe(true);
  expect(listSeen()).toEqual(ODD);
});
test('what is written meanwhile and later is kept', async () => {
  await removeEven();
  const written = Promise.all(
    Array.from({ length: 200 }, (_row, at) => sql.write('INSERT INTO prompts VALUES ($1, $2)', [1000 + at, 'more'])),
  );
  await Promise.all([sql.emptyLog(), sql.emptyLog(), written]);
  await sql.write('INSERT INTO prompts VALUES ($1, $2)', [2000, 'last']);

  expect(await sql.read('SELECT count(*) AS rows FROM prompts')).toEqual([{ rows: ROWS - ROWS / 4 + 201 }]);
  await sql.close();
  sql = openSqlite(file);
  expect(await sql.read('SELECT count(*) AS rows FROM prompts')).toEqual([{ rows: ROWS - ROWS / 4 + 201 }]);
  expect(await sql.read('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
});
test('a reader of another process that is in the way is told of, and the next attempt succeeds', async () => {
  const reader = new DatabaseSync(file);
  reader.exec('BEGIN; SELECT count(*) FROM prompts');
  await removeEven();
  expect(await sql.emptyLog()).toBe(false);
  reader.exec('COMMIT');
  reader.close();

  expect(await sql.emptyLog()).toBe(true);
  expect(listSeen()).toEqual(ODD);
});
test('a store that closes meanwhile waits for it', async () => {
  await removeEven();
  const emptying = sql.emptyLog();
  await sql.close();

  expect(await emptying).toBe(true);
  await expect(sql.emptyLog()).rejects.toThrow('closed');
  sql = openSqlite(file);
  expect(await sql.read('SELECT count(*) AS rows FROM prompts')).toEqual([{ rows: ROWS - ROWS / 4 }]);
});
