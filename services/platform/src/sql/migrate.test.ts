import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { migrate } from './migrate.ts';
import { openSql } from './open-sql.ts';
import type { Sql } from './sql.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-migrate-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const file = (name: string, text: string): void => {
  writeFileSync(path.join(folder, name), text);
};
const steps = async (sql: Sql): Promise<unknown[]> =>
  (await sql.read('SELECT step FROM steps ORDER BY number')).map(({ step }) => step);
const ran = async (sql: Sql): Promise<unknown[]> =>
  (await sql.read('SELECT name FROM schema_migrations ORDER BY name')).map(({ name }) => name);

/** Migrations whose order is visible, and which fail when they run twice. */
const FIRST =
  "CREATE TABLE steps (number INTEGER PRIMARY KEY, step TEXT NOT NULL);\nINSERT INTO steps VALUES (1, 'first');\n";
const SECOND = "INSERT INTO steps SELECT MAX(number) + 1, 'second' FROM steps;\n";
const THIRD = "INSERT INTO steps SELECT MAX(number) + 1, 'third' FROM steps;\n";

describeOnEngines('migrations', (open) => {
  test('run in the order of their numbers, and other files are ignored', async () => {
    const sql = open();
    file('0010_third.sql', THIRD);
    file('0002_second.sql', SECOND);
    file('0001_first.sql', FIRST);
    file('README.md', 'not a migration');

    await migrate(sql, folder);

    expect(await steps(sql)).toEqual(['first', 'second', 'third']);
    expect(await ran(sql)).toEqual(['0001_first.sql', '0002_second.sql', '0010_third.sql']);
  });

  test('run once, and the next start runs only a new one', async () => {
    const sql = open();
    file('0001_first.sql', FIRST);
    await migrate(sql, folder);
    await migrate(sql, folder);
    file('0002_second.sql', SECOND);

    await migrate(sql, folder);

    expect(await steps(sql)).toEqual(['first', 'second']);
  });

  test('that were edited after they ran stop the start before a new one runs', async () => {
    const sql = open();
    file('0001_first.sql', FIRST);
    await migrate(sql, folder);
    file('0000_early.sql', "INSERT INTO steps VALUES (9, 'early');\n");
    file('0001_first.sql', `${FIRST}-- one more thought\n`);

    await expect(migrate(sql, folder)).rejects.toThrow(
      'migration 0001_first.sql was edited after it ran; restore it and add a new file',
    );

    expect(await steps(sql)).toEqual(['first']);
    expect(await ran(sql)).toEqual(['0001_first.sql']);
  });

  test('leave nothing of this start when one of them fails', async () => {
    const sql = open();
    file('0001_first.sql', FIRST);
    file('0002_second.sql', `${SECOND}INSERT INTO nowhere VALUES (1);\n`);

    await expect(migrate(sql, folder)).rejects.toThrow(/nowhere/);
    await expect(sql.read('SELECT step FROM steps')).rejects.toThrow();

    file('0002_second.sql', SECOND);
    await migrate(sql, folder);
    expect(await steps(sql)).toEqual(['first', 'second']);
  });

  test('run once when several processes start at the same moment', async () => {
    const processes = [open(), open(), open(), open()];
    file('0001_first.sql', FIRST);
    file('0002_second.sql', SECOND);

    const starts = await Promise.allSettled(processes.map((sql) => migrate(sql, folder)));

    expect(starts.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await steps(processes[0]!)).toEqual(['first', 'second']);
  });

  test('may have comments, empty lines, and statements of several lines that contain semicolons', async () => {
    const sql = open();
    file(
      '0001_first.sql',
      [
        '-- the first; of many',
        '',
        'CREATE TABLE steps (',
        '  number INTEGER PRIMARY KEY,',
        '  -- a word; or two',
        '  step TEXT NOT NULL',
        ');  ',
        '',
        "INSERT INTO steps VALUES (1, 'a; b');",
        "  INSERT INTO steps VALUES (2, 'last')",
      ].join('\n'),
    );

    await migrate(sql, folder);

    expect(await steps(sql)).toEqual(['a; b', 'last']);
  });
});

describe('a service’s database', () => {
  const opened = (): Promise<Sql> =>
    openSql({ url: undefined, dataDir: path.join(folder, 'data/deep'), name: 'things', migrations: folder });

  test('is created with its tables when it is missing, and keeps its data', async () => {
    file('0001_first.sql', FIRST);
    const sql = await opened();
    await sql.write('INSERT INTO steps VALUES ($1, $2)', [7, 'written']);
    await sql.close();

    const again = await opened();

    expect(await steps(again)).toEqual(['first', 'written']);
    await again.close();
  });

  test('is closed when its migrations fail', async () => {
    file('0001_first.sql', 'nonsense;\n');

    await expect(opened()).rejects.toThrow(/syntax error/);
    file('0001_first.sql', FIRST);

    const sql = await opened();
    expect(await steps(sql)).toEqual(['first']);
    await sql.close();
  });
});
