import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { migrate, readSchema } from './migrate.ts';
import { checkStore, migrateStore } from './migrate-store.ts';
import { openSql } from './open-sql.ts';
import type { Sql } from './sql.ts';
import { StoreUnavailable } from './sql.ts';

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

  /** A store whose first transactions, as many as `times` says, end in a deadlock after all of their work. */
  const deadlocked = (sql: Sql, times: number, runs = { ended: 0 }): Pick<Sql, 'engine' | 'transaction'> => ({
    engine: sql.engine,
    transaction: (work) =>
      sql.transaction(async (query) => {
        const result = await work(query);
        if (runs.ended === times) return result;
        runs.ended += 1;
        throw new StoreUnavailable(Object.assign(new Error('deadlock detected'), { code: '40P01' }));
      }),
  });

  test('run again when they and running work have waited for each other, and each has run once', async () => {
    const sql = open();
    file('0001_first.sql', FIRST);
    file('0002_second.sql', SECOND);

    await migrate(deadlocked(sql, 9), folder);

    expect(await steps(sql)).toEqual(['first', 'second']);
  });

  test('are given up after ten deadlocks, and leave nothing', async () => {
    const sql = open();
    file('0001_first.sql', FIRST);

    await expect(migrate(deadlocked(sql, 10), folder)).rejects.toThrow('deadlock detected');
    await expect(sql.read('SELECT step FROM steps')).rejects.toThrow();
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

describeOnEngines('a table without row ids', (open) => {
  test('is one in SQLite, and an ordinary table in PostgreSQL', async () => {
    const sql = open();
    file('0001_first.sql', 'CREATE TABLE pairs (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;\n');

    await migrate(sql, folder);
    await sql.write("INSERT INTO pairs VALUES ('a', 'b')");

    expect(await sql.read('SELECT name, value FROM pairs')).toEqual([{ name: 'a', value: 'b' }]);
    await expect(sql.read('SELECT rowid FROM pairs')).rejects.toThrow(/rowid/);
  });
});

const CONTRACT = '-- contract: needs 0002_second.sql\n';

describeOnEngines('a schema', (open) => {
  test('is compared with the files of the program, and nothing is written', async () => {
    const sql = open();
    file('0001_first.sql', FIRST);
    file('0002_second.sql', SECOND);
    const names = async (): Promise<unknown> => {
      const { pending, unknown } = await readSchema(sql, folder);
      return { pending: pending.map(({ name }) => name), unknown };
    };

    expect(await names()).toEqual({ pending: ['0001_first.sql', '0002_second.sql'], unknown: [] });
    await expect(sql.read('SELECT name FROM schema_migrations')).rejects.toThrow();
    expect(await migrate(sql, folder)).toEqual(['0001_first.sql', '0002_second.sql']);
    expect(await names()).toEqual({ pending: [], unknown: [] });
    expect(await migrate(sql, folder)).toEqual([]);
  });

  test('of a newer release is accepted, and its additions are named', async () => {
    const sql = open();
    file('0001_first.sql', FIRST);
    file('0002_second.sql', SECOND);
    await migrate(sql, folder);
    rmSync(path.join(folder, '0002_second.sql'));

    expect(await migrate(sql, folder)).toEqual([]);
    expect(await readSchema(sql, folder)).toEqual({ pending: [], unknown: ['0002_second.sql'] });
  });

  test('that lacks what this program needs is refused by name, and a program that has moved on accepts it', async () => {
    const sql = open();
    file('0001_first.sql', FIRST);
    file('0002_second.sql', SECOND);
    file('0003_third.sql', `${CONTRACT}${THIRD}`);
    await migrate(sql, folder);
    rmSync(path.join(folder, '0003_third.sql'));
    expect(await migrate(sql, folder)).toEqual([]);
    rmSync(path.join(folder, '0002_second.sql'));

    const refusal =
      /^a newer release wrote this store: 0003_third.sql needs a program with 0002_second.sql, and this one ends at 0001_first.sql/;
    await expect(readSchema(sql, folder)).rejects.toThrow(refusal);
    await expect(migrate(sql, folder)).rejects.toThrow(refusal);
  });
});

describe('a service’s database', () => {
  const store = () =>
    ({ url: undefined, dataDir: path.join(folder, 'data/deep'), name: 'things', migrations: folder }) as const;
  const opened = (mode: 'run' | 'check' = 'run'): Promise<Sql> => openSql({ ...store(), mode });

  test('is migrated by a step of its own; until then a start that only checks is unavailable', async () => {
    file('0001_first.sql', FIRST);
    file('0002_second.sql', SECOND);

    await expect(opened('check')).rejects.toMatchObject({
      name: 'StoreUnavailable',
      message: expect.stringMatching(
        /lacks 0001_first.sql, 0002_second.sql; expected a run of reelgate migrate things/,
      ),
    });
    expect(await migrateStore(store())).toEqual(['0001_first.sql', '0002_second.sql']);
    const sql = await opened('check');

    expect(await steps(sql)).toEqual(['first', 'second']);
    await sql.close();
  });

  test('that does not exist lacks every migration, and a check does not make it', async () => {
    file('0001_first.sql', FIRST);

    expect(await checkStore(store())).toEqual({ pending: ['0001_first.sql'], unknown: [] });

    expect(existsSync(store().dataDir)).toBe(false);
  });

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
