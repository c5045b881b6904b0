import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openCuttableLine } from '../../../../test/harness/cuttable-line.ts';
import type { CuttableLine } from '../../../../test/harness/cuttable-line.ts';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../../test/servers/postgres-server.ts';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { until } from '../../testing/until.ts';
import { postgresFault } from './postgres-faults.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import type { Sql } from './sql.ts';
import { StoreUnavailable } from './sql.ts';

const STATEMENT_MS = 300;
const away = (maybeWritten: boolean): unknown => expect.objectContaining({ name: 'StoreUnavailable', maybeWritten });
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describeOnEngines('a permanent fault', (open) => {
  test.each<[string, (sql: Sql) => Promise<unknown>]>([
    ['an invalid statement', (sql) => sql.read('SELECT FROM WHERE')],
    ['a missing table', (sql) => sql.write('INSERT INTO nowhere VALUES (1)')],
    ['a duplicate key', (sql) => sql.transaction((query) => query('INSERT INTO things VALUES (1), (1)'))],
    ['work that throws', (sql) => sql.transaction(() => Promise.reject(new Error('Connection terminated, it said')))],
  ])('is reported as it is: %s', async (_what, work) => {
    const sql = open();
    await sql.write('CREATE TABLE things (id INTEGER PRIMARY KEY)');

    expect(await failureOf(work(sql))).not.toBeInstanceOf(StoreUnavailable);
  });
});

describeOnEngines('a closed database', (open) => {
  test.each<[string, (sql: Sql) => Promise<unknown>]>([
    ['a read', (sql) => sql.read('SELECT 1')],
    ['a write', (sql) => sql.write('SELECT 1')],
    ['a transaction', (sql) => sql.transaction((query) => query('SELECT 1'))],
  ])('is unavailable for %s, and has written nothing', async (_what, work) => {
    const sql = open();
    await sql.write('SELECT 1');
    await sql.close();

    expect(await failureOf(work(sql))).toEqual(away(false));
  });
});

describe('SQLite', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-faults-'));
  const opened: Sql[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((sql) => sql.close()));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const opening = (name: string, sync?: Parameters<typeof openSqlite>[1]): Sql => {
    const sql = openSqlite(path.join(folder, name), sync);
    opened.push(sql);
    return sql;
  };

  test('with a full file is unavailable, writes nothing, and works again once there is room', async () => {
    const sql = opening('full.sqlite');
    await sql.write('CREATE TABLE things (bytes TEXT)');
    await sql.write('PRAGMA max_page_count = 2');

    const outcomes = await Promise.all(
      [1, 2].map(() => failureOf(sql.write('INSERT INTO things VALUES ($1)', ['x'.repeat(100_000)]))),
    );

    expect(outcomes).toEqual([away(false), away(false)]);
    await sql.write('PRAGMA max_page_count = 1000000');
    await sql.write('INSERT INTO things VALUES ($1)', ['x']);
    expect(await sql.read('SELECT bytes FROM things')).toEqual([{ bytes: 'x' }]);
  });

  test('writes nothing of a transaction whose first statement meets a full file, and whose others would fit', async () => {
    const sql = opening('full-within.sqlite');
    await sql.write('CREATE TABLE things (bytes TEXT)');
    await sql.write('PRAGMA max_page_count = 2');
    const insert = (bytes: string) => ['INSERT INTO things VALUES ($1)', [bytes]] as const;

    const [atOnce, oneByOne] = [
      await failureOf(sql.writeAll([insert('x'.repeat(100_000)), insert('fits')])),
      await failureOf(
        sql.transaction(async (query) => {
          await query(...insert('x'.repeat(100_000))).catch(() => undefined);
          await query(...insert('fits too'));
        }),
      ),
    ];

    expect([atOnce, oneByOne]).toEqual([away(false), away(false)]);
    expect(await sql.read('SELECT bytes FROM things')).toEqual([]);
  });

  test('whose disk rejects the log may have written the commit, and writes nothing later', async () => {
    const sql = opening('unsynced.sqlite', async () => ({
      sync: () => Promise.reject(new Error('the disk is gone')),
      close: async () => undefined,
    }));

    expect(await failureOf(sql.write('CREATE TABLE things (id INTEGER)'))).toEqual(away(true));
    expect(await failureOf(sql.write('CREATE TABLE others (id INTEGER)'))).toEqual(away(false));
    expect(await failureOf(sql.read('SELECT 1'))).toEqual(away(false));
  });
});

describeWith(postgresServer, 'a server', (url) => {
  let line: CuttableLine;
  let sql: Sql;
  let direct: Sql;
  beforeAll(async () => {
    line = await openCuttableLine(url());
    sql = openPostgres(line.url, { connections: 4, statementMs: STATEMENT_MS });
    direct = openPostgres(url());
    await direct.write('CREATE TABLE counts (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)');
    await direct.write('INSERT INTO counts VALUES (1, 0), (2, 0)');
    await direct.write('CREATE ROLE few LOGIN CONNECTION LIMIT 0');
  });
  afterEach(() => line.mend());
  afterAll(async () => {
    await Promise.all([sql.close(), direct.close()]);
    await line.stop();
  });
  const add = 'UPDATE counts SET value = value + 1 WHERE id = 1 RETURNING value';

  test.each<[string, (sql: Sql) => Promise<unknown>]>([
    ['a read', (unconnected) => unconnected.read('SELECT 1')],
    ['a write', (unconnected) => unconnected.write(add)],
    ['a transaction', (unconnected) => unconnected.transaction((query) => query(add))],
  ])('that cannot be reached is unavailable for %s, and has written nothing', async (_what, work) => {
    const unconnected = openPostgres(line.url);
    line.cut();

    expect(await failureOf(work(unconnected))).toEqual(away(false));
    line.mend();
    expect(await failureOf(work(unconnected))).toBe('no failure');
    await unconnected.close();
  });

  test('whose connection breaks within a transaction is unavailable, and has written nothing', async () => {
    const broken = sql.transaction(async (query) => {
      await query(add);
      line.cut();
      return query(add);
    });

    expect(await failureOf(broken)).toEqual(away(false));
  });

  test('whose connection breaks at the commit may have written it', async () => {
    const broken = sql.transaction(async (query) => {
      await query(add);
      line.cut();
    });

    expect(await failureOf(broken)).toEqual(away(true));
  });

  test('that falls silent is unavailable; a read has written nothing, and a write may have', async () => {
    await Promise.all([sql.read('SELECT 1'), sql.read('SELECT 1')]);
    line.freeze();

    expect(await Promise.all([failureOf(sql.read('SELECT 1')), failureOf(sql.write(add))])).toEqual([
      away(false),
      away(true),
    ]);
  });

  test('that cancels a slow statement is unavailable, and has written nothing', async () => {
    expect(await failureOf(sql.write('SELECT pg_sleep(5)'))).toEqual(away(false));
  });

  test('without free connections is unavailable, and has written nothing', async () => {
    const crowded = new URL(url());
    crowded.username = 'few';
    const few = openPostgres(crowded.href);

    expect(await failureOf(few.write(add))).toEqual(away(false));
    await few.close();
  });

  test('that ends the connection is unavailable', async () => {
    const ended = sql.transaction(async (query) => {
      const [row] = await query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await direct.read('SELECT pg_terminate_backend($1)', [row!.pid]);
      return query('SELECT 1');
    });

    expect(await failureOf(ended)).toEqual(away(false));
  });

  test('that ends the connection of a read is asked over another connection', async () => {
    const patient = openPostgres(url(), { connections: 1 });
    const [{ pid } = { pid: 0 }] = await patient.read<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const waiting = 'SELECT count(*) AS count FROM pg_locks WHERE pid = $1 AND NOT granted';
    let reading: Promise<unknown> | undefined;
    await direct.transaction(async (query) => {
      await query('LOCK TABLE counts IN ACCESS EXCLUSIVE MODE');
      reading = patient.read('SELECT id FROM counts WHERE id = 2');
      await until(async () => Number((await direct.read(waiting, [pid]))[0]?.['count']) > 0);
      await direct.read('SELECT pg_terminate_backend($1)', [pid]);
    });

    expect(await reading).toEqual([{ id: 2 }]);
    await patient.close();
  });

  test('with two conflicting transactions is unavailable for the later one, which has written nothing', async () => {
    const conflicting = sql.transaction(async (query) => {
      await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      await query('SELECT value FROM counts WHERE id = 2');
      await direct.write('UPDATE counts SET value = value + 1 WHERE id = 2');
      return query('UPDATE counts SET value = value + 10 WHERE id = 2');
    });

    expect(await failureOf(conflicting)).toEqual(away(false));
    expect(await direct.read('SELECT value FROM counts WHERE id = 2')).toEqual([{ value: 1 }]);
  });
});

describe('a failure of PostgreSQL', () => {
  const failure = (code: string, message = 'it failed'): Error => Object.assign(new Error(message), { code });

  test.each<[string, Error, boolean | 'a bug']>([
    ['no address for the name', failure('ENOTFOUND'), true],
    ['several addresses without an answer', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), true],
    ['no file descriptors', failure('EMFILE'), true],
    ['a connection that broke off', new Error('Connection terminated unexpectedly'), true],
    ['no free connection in the pool', new Error('timeout exceeded when trying to connect'), true],
    ['a crash', failure('57P02'), true],
    ['a starting server', failure('57P03'), true],
    ['a full disk', failure('53100'), false],
    ['too many connections', failure('53300'), false],
    ['a deadlock', failure('40P01'), false],
    ['a read-only standby', failure('25006'), false],
    ['a wrong password', failure('28P01'), false],
    ['a broken disk', failure('58030'), false],
    ['a duplicate key', failure('23505'), 'a bug'],
    ['a missing table', failure('42P01'), 'a bug'],
    ['a syntax error', failure('42601'), 'a bug'],
    ['a number out of range', failure('22003'), 'a bug'],
    ['a broken page', failure('XX001'), 'a bug'],
    ['something else', new Error('Cannot read properties of undefined'), 'a bug'],
  ])('%s is classified correctly', (_what, error, expected) => {
    const told = postgresFault(error, true);

    if (expected === 'a bug') expect(told).toBe(error);
    else expect(told).toEqual(away(expected));
  });

  test.each([
    ['40001', true],
    ['40P01', true],
    ['55P03', true],
    ['57014', true],
    ['53300', false],
    ['57P02', false],
    ['ECONNREFUSED', false],
  ])('%s is told apart by whether other transactions were in the way', (code, isContention) => {
    expect(postgresFault(failure(code), true)).toMatchObject({ name: 'StoreUnavailable', isContention });
  });
});
