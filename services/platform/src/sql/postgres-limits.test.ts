import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import type { RunningServer } from '../../../../test/servers/launcher.ts';
import { pgBouncerServer, startPgBouncer } from '../../../../test/servers/pgbouncer-server.ts';
import { postgresServer } from '../../../../test/servers/postgres-server.ts';
import { aGate, inTime } from '../../testing/bounded-waits.ts';
import { describePooled } from '../../testing/describe-pooled.ts';
import { until } from '../../testing/until.ts';
import { sqlConformance } from '../../testing/sql-conformance.ts';
import { systemClock } from '../clock.ts';
import { Secret } from '../secret.ts';
import { migrateStore } from './migrate-store.ts';
import { openPostgres } from './postgres.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import type { Sql } from './sql.ts';
import { StoreUnavailable } from './sql.ts';

const IDLE_MS = 300;
const LIMITS = { statementMs: 600, lockMs: 200, idleInTransactionMs: IDLE_MS };
const SLEEP = 'SELECT pg_sleep(5)';
const ADD = 'UPDATE counts SET value = value + 1 WHERE id = 1 RETURNING value';

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  inTime(
    work.then(
      () => 'no failure',
      (error: unknown) => error,
    ),
  );
const away = (cause: RegExp): unknown =>
  expect.objectContaining({
    name: 'StoreUnavailable',
    maybeWritten: false,
    message: expect.stringMatching(cause),
  });

describeWith(postgresServer, 'the time limits', (url) => {
  const opened: Sql[] = [];
  const poolers: RunningServer[] = [];
  const opening = (at: string, settings: Partial<PostgresSettings> = LIMITS): Sql => {
    const sql = openPostgres(at, settings);
    opened.push(sql);
    return sql;
  };
  let direct: Sql;
  beforeAll(async () => {
    direct = openPostgres(url());
    await direct.write('CREATE TABLE counts (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)');
    await direct.write('INSERT INTO counts VALUES (1, 0)');
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((sql) => sql.close()));
    await Promise.all(poolers.splice(0).map((pooler) => pooler.stop()));
  });
  afterAll(() => direct.close());

  describe.each<[string, Record<string, string> | undefined, boolean]>([
    ['directly', undefined, false],
    ['behind a pooler', {}, false],
    [
      'behind a pooler that ignores limits',
      { ignore_startup_parameters: 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout' },
      false,
    ],
    ['behind a pooler, by the role', {}, true],
  ])('%s', (how, settings, byRole) => {
    if (settings !== undefined && pgBouncerServer.missing() !== undefined) {
      test.skip(`skipped: ${how}: ${pgBouncerServer.missing() ?? ''}`, () => undefined);
      return;
    }
    const reached = async (): Promise<string> => {
      if (byRole)
        await direct.transaction(async (query) => {
          await query('ALTER ROLE postgres SET statement_timeout = 600');
          await query('ALTER ROLE postgres SET lock_timeout = 200');
          await query('ALTER ROLE postgres SET idle_in_transaction_session_timeout = 300');
        });
      if (settings === undefined) return url();
      const pooler = await startPgBouncer(url(), settings);
      poolers.push(pooler);
      return pooler.url;
    };
    afterAll(async () => {
      if (byRole) await direct.write('ALTER ROLE postgres RESET ALL');
    });

    test('end a slow statement, a wait for a lock and an idle transaction; each is unavailable', async () => {
      const sql = opening(await reached());
      const slow = away(/statement timeout/);

      expect(
        await Promise.all([
          failureOf(sql.read(SLEEP)),
          failureOf(sql.write(SLEEP)),
          failureOf(sql.transaction((query) => query(SLEEP))),
        ]),
      ).toEqual([slow, slow, slow]);
      await direct.transaction(async (query) => {
        await query(ADD);
        const locked = away(/lock timeout/);
        expect(await failureOf(sql.write(ADD))).toEqual(locked);
        expect(await failureOf(sql.transaction((inner) => inner(ADD)))).toEqual(locked);
      });
      const idle = sql.transaction(async (query) => {
        await query(ADD);
        await systemClock.sleep(4 * IDLE_MS);
        return query(ADD);
      });
      expect(await failureOf(idle)).toMatchObject({ name: 'StoreUnavailable', maybeWritten: false });
      expect(await sql.read('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });

    test('do not reach another client of the same connections', async () => {
      if (byRole) return;
      const at = await reached();
      const strict = opening(at);
      await Promise.all(Array.from({ length: 8 }, () => strict.transaction((query) => query(ADD))));
      await Promise.all(Array.from({ length: 8 }, () => strict.write(ADD)));

      const other = opening(at, { statementMs: 20_000 });

      expect(await failureOf(other.read('SELECT pg_sleep(0.9)'))).toBe('no failure');
    });
  });
});

describeWith(postgresServer, 'the connections of a process', (url) => {
  test('are as many as the settings say; the queue for them is bounded, and so is the wait in it', async () => {
    const sql = openPostgres(url(), { connections: 1, queue: 1, connectMs: 300 });
    const gate = aGate();
    const holding = sql.transaction(async (query) => {
      const rows = await query('SELECT 1 AS one');
      await gate.opened;
      return rows;
    });
    const waiting = failureOf(sql.read('SELECT 2'));
    await until(() => sql.pool().waitedMs > 100);

    expect(await failureOf(sql.read('SELECT 3'))).toEqual(away(/1 calls wait for a connection/));
    expect(await waiting).toEqual(away(/timeout exceeded when trying to connect/));
    expect(sql.pool()).toEqual({ inUse: 1, idle: 0, waiting: 0, waitedMs: 0 });
    gate.open();
    expect(await inTime(holding)).toEqual([{ one: 1 }]);
    await sql.close();
  });

  test.each([
    ['an unknown database', { pathname: '/nowhere' }],
    ['an unknown user', { username: 'somebody' }],
    ['a server without TLS', { search: '?sslmode=verify-full' }],
  ])('that cannot be opened are unavailable: %s', async (_what, change) => {
    const sql = openPostgres(Object.assign(new URL(url()), change).href);

    expect(await failureOf(sql.write('SELECT 1'))).toBeInstanceOf(StoreUnavailable);

    await sql.close();
  });
});

describeWith(pgBouncerServer, 'migrations', (url) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-pooled-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test('run once when several processes start at the same moment, also while one waits longer than for a lock', async () => {
    writeFileSync(
      path.join(folder, '0001_once.sql'),
      'CREATE TABLE once (id INTEGER PRIMARY KEY);\nSELECT pg_sleep(1);\n',
    );
    const store = {
      url: new Secret(url()),
      dataDir: folder,
      name: 'once',
      migrations: folder,
      postgres: { lockMs: 200, connections: 2 },
    };

    const starts = await inTime(Promise.all(Array.from({ length: 4 }, () => migrateStore(store))));

    expect(starts.flat()).toEqual(['0001_once.sql']);
  });
});

describePooled('SQL', sqlConformance);
