import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import { openSqlite } from './sqlite.ts';
import type { Sql } from './sql.ts';
import { StoreUnavailable } from './sql.ts';
import { watchWrites } from './watch-writes.ts';
import { runChecks } from '../diagnosis/self-checks.ts';
import { storeChecks } from './store-checks.ts';

const PAGES = 16;
const ROW = 'x'.repeat(4096);

let folder: string;
let opened: Sql;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-store-checks-'));
  opened = openSqlite(path.join(folder, 'tasks.sqlite'));
});
afterEach(async () => {
  await opened.close();
  rmSync(folder, { recursive: true });
});

test('a store that is full answers reads, so its check tells of the last write', async () => {
  const clock = fakeClock();
  const watched = watchWrites(opened, clock);
  const { sql } = watched;
  const [database] = storeChecks(
    watched,
    { url: undefined, name: 'tasks', dataDir: folder, migrations: folder },
    clock,
  );
  const check = async () => (await runChecks([database!], clock))[0];
  const fill = (): Promise<unknown> => sql.write('INSERT INTO things (text) VALUES ($1)', [ROW]);
  await sql.write('CREATE TABLE things (text TEXT)');
  expect(await check()).toMatchObject({ grade: 'ok' });

  await opened.write(`PRAGMA max_page_count = ${PAGES}`);
  await expect(Promise.all(Array.from({ length: PAGES }, fill))).rejects.toBeInstanceOf(StoreUnavailable);
  await clock.advance(3000);
  expect(await sql.read('SELECT COUNT(*) AS count FROM things')).toHaveLength(1);
  expect(await check()).toEqual({
    part: 'database',
    grade: 'fail',
    detail: 'the embedded store answers reads, and refused the last write, 3 s ago: database or disk is full',
    advice: expect.stringContaining('free space'),
  });

  await expect(sql.write('INSERT INTO nowhere VALUES (1)')).rejects.toThrow('no such table');
  expect(await check()).toMatchObject({ grade: 'fail' });
  await opened.write('PRAGMA max_page_count = 10000');
  await fill();
  expect(await check()).toMatchObject({ grade: 'ok' });
});
