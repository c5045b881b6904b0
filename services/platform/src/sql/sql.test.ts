import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { openCuttableLine } from '../../../../test/harness/cuttable-line.ts';
import { postgresServer } from '../../../../test/servers/postgres-server.ts';
import { inTime } from '../../testing/bounded-waits.ts';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { sqlConformance } from '../../testing/sql-conformance.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import type { Sql } from './sql.ts';

describeOnEngines('SQL', sqlConformance);

describe('the transactions of one event-loop turn on SQLite', () => {
  const PAGE_BYTES = 2048;
  let folder = '';
  let file = '';
  let sql: Sql;
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'reelgate-sql-'));
    file = path.join(folder, 'test.sqlite');
    sql = openSqlite(file);
    await sql.write(
      'CREATE TABLE things (id TEXT PRIMARY KEY, parent TEXT REFERENCES things DEFERRABLE INITIALLY DEFERRED)',
    );
  });
  afterEach(async () => {
    await sql.close();
    rmSync(folder, { recursive: true });
  });
  const insert = (id: string, parent: string | null = null): Promise<unknown> =>
    sql.write('INSERT INTO things VALUES ($1, $2)', [id, parent]);
  const ids = async (): Promise<unknown[]> => (await sql.read('SELECT id FROM things ORDER BY id')).map(({ id }) => id);

  test('share one commit', async () => {
    // each commit appends the pages that it changed to the log
    const before = statSync(`${file}-wal`).size;

    await Promise.all(Array.from({ length: 50 }, (_, index) => insert(`thing_${index}`)));

    expect(statSync(`${file}-wal`).size - before).toBeLessThan(10 * PAGE_BYTES);
    expect(await ids()).toHaveLength(50);
  });

  test('all fail when that commit fails, and none is kept', async () => {
    const outcomes = await Promise.allSettled([insert('a'), insert('orphan', 'nobody'), insert('b')]);

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await ids()).toEqual([]);
  });

  test('do not affect the transactions of the next turn', async () => {
    await Promise.allSettled([insert('orphan', 'nobody')]);

    await insert('c');

    expect(await ids()).toEqual(['c']);
  });

  test('run one after another, in the order of their calls', async () => {
    const order: string[] = [];
    const work = (name: string): Promise<void> =>
      sql.transaction(async (query) => {
        order.push(`${name} begins`);
        await query('SELECT 1');
        await query('SELECT 2');
        order.push(`${name} ends`);
      });

    await Promise.all([work('first'), work('second')]);

    expect(order).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  });
});

describeWith(postgresServer, 'connections', (url) => {
  test('a claim skips the rows of an open transaction', async () => {
    const sql = openPostgres(url());
    await sql.write('CREATE TABLE claims (id INTEGER PRIMARY KEY, owner TEXT)');
    await sql.write('INSERT INTO claims (id) VALUES (1), (2), (3), (4)');
    const claim = `UPDATE claims SET owner = $1 WHERE id IN (
      SELECT id FROM claims WHERE owner IS NULL ORDER BY id LIMIT 2 ${sql.skipLocked}
    ) RETURNING id`;

    const [own, others] = await sql.transaction(async (query) => [
      await query(claim, ['a']),
      await sql.write(claim, ['b']),
    ]);

    expect(own.map(({ id }) => id).sort()).toEqual([1, 2]);
    expect(others.map(({ id }) => id).sort()).toEqual([3, 4]);
    await sql.close();
  });

  const endConnection = 'SELECT pg_terminate_backend($1)';
  const ownProcess = 'SELECT pg_backend_pid() AS pid';

  test('a statement on a silent server fails in bounded time, and a later one succeeds', async () => {
    const line = await openCuttableLine(url());
    const sql = openPostgres(line.url, { connections: 2, statementMs: 200 });
    await sql.read('SELECT 1 AS one');
    line.freeze();

    const outcomes = await inTime(
      Promise.allSettled([sql.read('SELECT 2 AS two'), sql.transaction((query) => query('SELECT 3 AS three'))]),
    );

    expect(outcomes.map(({ status }) => status)).toContain('rejected');
    expect(await sql.read('SELECT 4 AS four')).toEqual([{ four: 4 }]);
    await sql.close();
    await line.stop();
  });

  test('a connection that breaks within a transaction fails only that transaction', async () => {
    const sql = openPostgres(url(), { connections: 2 });

    const broken = sql.transaction(async (query) => {
      const [row] = await query<{ pid: number }>(ownProcess);
      await sql.read(endConnection, [row!.pid]);
      return query('SELECT 1');
    });

    await expect(broken).rejects.toThrow();
    expect(await sql.transaction((query) => query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    await sql.close();
  });

  test('a connection that breaks while it is idle is replaced', async () => {
    const sql = openPostgres(url(), { connections: 1 });
    const other = openPostgres(url(), { connections: 1 });
    const [row] = await sql.read<{ pid: number }>(ownProcess);

    await other.read(endConnection, [row!.pid]);
    await sql.read('SELECT 1').catch(() => undefined);

    expect(await sql.read('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await Promise.all([sql.close(), other.close()]);
  });

  test('a missing server is an error, not a wait', async () => {
    const nowhere = new URL(url());
    nowhere.port = '1';
    const sql = openPostgres(nowhere.toString());

    await expect(sql.read('SELECT 1')).rejects.toThrow();

    await sql.close();
  });
});
