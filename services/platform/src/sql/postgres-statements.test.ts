import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { pgBouncerServer } from '../../../../test/servers/pgbouncer-server.ts';
import { postgresServer } from '../../../../test/servers/postgres-server.ts';
import { newNamedStatements } from './postgres-statements.ts';
import { openPostgres } from './postgres.ts';
import type { Sql } from './sql.ts';

const RARE = 2;
const NAMES_MAX = 100;
const INSERT = 'INSERT INTO things (id, value) VALUES ($1, $2)';
const READ = 'SELECT value FROM things WHERE id = $1';
const KEPT = 'SELECT statement FROM pg_prepared_statements WHERE statement NOT LIKE $1 ORDER BY statement';

const times = async (count: number, work: (index: number) => Promise<unknown>): Promise<void> => {
  for (let index = 0; index < count; index += 1) await work(index);
};
const readKept = async (sql: Sql): Promise<readonly unknown[]> =>
  (await sql.read(KEPT, ['BEGIN%'])).map(({ statement }) => statement).filter((text) => text !== KEPT);

test('a text has a name from its third use on, and keeps it', () => {
  const statements = newNamedStatements();

  expect([1, 2, 3, 4].map(() => statements.findName(READ))).toEqual([
    undefined,
    undefined,
    { name: 's1', isNew: true },
    { name: 's1', isNew: false },
  ]);
});

test('beyond a hundred names, the text that was not used for longest loses its own', () => {
  const statements = newNamedStatements();
  const useOften = (text: string): unknown => [1, 2, 3].map(() => statements.findName(text)).at(-1);
  for (let index = 0; index < NAMES_MAX; index += 1) useOften(`SELECT ${index}`);
  useOften('SELECT 0');
  useOften('SELECT a further one');

  expect(statements.takeUnused()).toEqual(['s2']);
  expect(statements.takeUnused()).toEqual([]);
  expect(statements.findName('SELECT 0')).toEqual({ name: 's1', isNew: false });
  expect(statements.findName('SELECT 1')).toMatchObject({ isNew: true });
});

describeWith(postgresServer, 'a connection to the server itself', (url) => {
  let sql: Sql;
  beforeEach(async () => {
    sql = openPostgres(url(), { connections: 1 });
    await sql.write('CREATE TABLE things (id INTEGER PRIMARY KEY, value INTEGER)');
  });
  afterEach(async () => {
    await sql.write('DROP TABLE things');
    await sql.close();
  });

  test('keeps the statements ready that it gets often, alone and in transactions', async () => {
    await times(RARE, (id) => sql.write(INSERT, [id, 0]));
    const afterFew = await readKept(sql);
    await times(RARE, (index) => sql.transaction((query) => query(INSERT, [RARE + index, 1])));
    await times(RARE, (id) => sql.read(READ, [id]));

    expect([afterFew, await readKept(sql)]).toEqual([[], [INSERT]]);
    expect(await sql.read(READ, [3])).toEqual([{ value: 1 }]);
  });

  test('goes on after a message of several statements failed, whichever of them was new', async () => {
    const fail = (): Promise<unknown> =>
      sql.transaction((query) => Promise.all([query(INSERT, [1, 1]), query(INSERT, [1, 2]), query(READ, [1])]));
    await times(5, async () => {
      await expect(fail()).rejects.toThrow('things_pkey');
    });
    await sql.transaction((query) => Promise.all([query(INSERT, [1, 1]), query(READ, [1])]));

    expect(await sql.read(READ, [1])).toEqual([{ value: 1 }]);
    expect(await readKept(sql)).toEqual([INSERT, READ].sort());
  });

  test('names no statement any more once another server answers than the one that was told it', async () => {
    await times(5, (id) => sql.write(INSERT, [id, 0]));
    await sql.write('DEALLOCATE ALL');

    await expect(sql.write(INSERT, [6, 0])).rejects.toMatchObject({ name: 'StoreUnavailable', maybeWritten: false });
    await times(5, (id) => sql.write(INSERT, [10 + id, 0]));
    expect(await readKept(sql)).toEqual([]);
    expect(await sql.read('SELECT COUNT(*) AS count FROM things')).toEqual([{ count: 10 }]);
  });

  test('goes on after a kept statement has other columns than before', async () => {
    const all = 'SELECT * FROM things WHERE id = $1';
    await sql.write(INSERT, [1, 1]);
    await times(3, () => sql.read(all, [1]));
    await sql.write('ALTER TABLE things ADD COLUMN name TEXT');
    await sql.read(all, [1]).catch(() => undefined);

    expect(await sql.read(all, [1])).toEqual([{ id: 1, value: 1, name: null }]);
  });
});

describeWith(pgBouncerServer, 'a connection to a pooler', (url) => {
  test('keeps no statement ready', async () => {
    const sql = openPostgres(url(), { connections: 1 });
    try {
      await times(5, () => sql.read('SELECT 1 AS one WHERE $1 > 0', [1]));

      expect(await sql.read('SELECT name FROM pg_prepared_statements')).toEqual([]);
    } finally {
      await sql.close();
    }
  });
});
