import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '../../testing/until.ts';
import { systemClock } from '../clock.ts';
import { openSqlite } from './sqlite.ts';
import type { Sql } from './sql.ts';
import { snapshotSqlite } from './sqlite-snapshot.ts';

const ROWS = 3000;
const SNAPSHOTS = 30;
const COUNT = 'SELECT COUNT(*) AS rows FROM numbers';

let folder = '';
let stores: Sql[] = [];
const at = (name: string): string => path.join(folder, name);
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-snapshot-'));
  stores = ['a.sqlite', 'b.sqlite'].map((name) => openSqlite(at(name)));
  for (const sql of stores) await sql.write('CREATE TABLE numbers (number INTEGER, text TEXT)');
});
afterEach(async () => {
  for (const sql of stores) await sql.close();
  rmSync(folder, { recursive: true });
});

const insert = (sql: Sql | undefined, number: number): Promise<unknown> =>
  sql!.write('INSERT INTO numbers (number, text) VALUES ($1, $2)', [number, 'x'.repeat(500)]);

test('a copy has what the snapshot saw, although its writers go on', async () => {
  const [a] = stores;
  await Promise.all(Array.from({ length: ROWS }, (_, number) => insert(a, number)));
  const snapshot = await snapshotSqlite([at('a.sqlite'), at('b.sqlite')], systemClock);

  let isCopied = false;
  const writing = (async () => {
    for (let number = 0; !isCopied; number += 1) await insert(a, number);
  })();
  await snapshot.copy(at('a.sqlite'), at('copy.sqlite'));
  isCopied = true;
  await writing;

  expect(snapshot.read(at('a.sqlite'), COUNT)).toEqual([{ rows: ROWS }]);
  snapshot.close();
  const copy = new DatabaseSync(at('copy.sqlite'));
  expect([copy.prepare(COUNT).get(), copy.prepare('PRAGMA integrity_check').get()]).toEqual([
    { rows: ROWS },
    { integrity_check: 'ok' },
  ]);
  copy.close();
  expect((await a!.read<{ rows: number }>(COUNT))[0]!.rows).toBeGreaterThan(ROWS);
});

/**
 * Writes a row to the first file, then one to the second, until it is ended: another process as far as SQLite knows.
 */
const WRITE_BOTH = `
import { parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync } from 'node:sqlite';
const inserts = workerData.map((file) =>
  new DatabaseSync(file, { timeout: 10_000 }).prepare("INSERT INTO numbers (number, text) VALUES (1, 'x')"));
for (let number = 0; ; number += 1) {
  for (const insert of inserts) insert.run();
  if (number === 10) parentPort.postMessage('writing');
}`;

test('the files are seen at one moment: what is written to one after the other never stands alone', async () => {
  const names = ['a.sqlite', 'b.sqlite'];
  const source = new URL(`data:text/javascript,${encodeURIComponent(WRITE_BOTH)}`);
  const writer = new Worker(source, { workerData: names.map(at) });
  await once(writer, 'message');

  const seen: (readonly [a: number, b: number])[] = [];
  const hasGrown = (): boolean => seen.length >= SNAPSHOTS && seen.at(-1)![0] > seen[0]![0];
  // on a busy machine the writer may not run during the first ones
  await until(async () => {
    const snapshot = await snapshotSqlite(names.map(at), systemClock);
    const [a = 0, b = 0] = names.map((name) => snapshot.read<{ rows: number }>(at(name), COUNT)[0]!.rows);
    seen.push([a, b]);
    snapshot.close();
    return hasGrown();
  });
  await writer.terminate();

  expect(seen.filter(([a, b]) => a - b !== 0 && a - b !== 1)).toEqual([]);
  expect(hasGrown()).toBe(true);
});

test('a file that is locked for long is waited for, and no lock stays', async () => {
  const holder = new DatabaseSync(at('b.sqlite'));
  holder.exec('BEGIN IMMEDIATE');
  const waits: number[] = [];
  const snapshot = await snapshotSqlite([at('a.sqlite'), at('b.sqlite')], {
    sleep: async (ms) => {
      waits.push(ms);
      if (waits.length === 2) holder.exec('ROLLBACK');
    },
  });
  snapshot.close();
  holder.close();

  expect(waits).toHaveLength(2);
  await expect(insert(stores[0], 1)).resolves.toEqual([]);
});
