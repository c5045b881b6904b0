import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe } from '@jest/globals';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../test/servers/postgres-server.ts';
import { openPostgres } from '../src/sql/postgres.ts';
import { openSqlite } from '../src/sql/sqlite.ts';
import type { Sql } from '../src/sql/sql.ts';

/**
 * Opens the database of the running test. It is empty at the first call; a second call opens it as another process
 * would. Every connection is closed after the test.
 */
export type OpenSql = (poolSize?: number) => Sql;

/** Runs the same tests on every engine. */
export function describeOnEngines(title: string, tests: (open: OpenSql) => void): void {
  describe(`${title} with SQLite`, () => {
    let folder = '';
    beforeEach(() => {
      folder = mkdtempSync(path.join(tmpdir(), 'reelgate-sql-'));
    });
    tests(
      closing(
        () => openSqlite(path.join(folder, 'test.sqlite')),
        async () => {
          rmSync(folder, { recursive: true });
        },
      ),
    );
  });
  describeWith(postgresServer, title, (url) => {
    let schema = 0;
    beforeEach(async () => {
      schema += 1;
      const sql = openPostgres(url(), { connections: 1 });
      await sql.write(`CREATE SCHEMA test_${schema}`);
      await sql.close();
    });
    tests(
      closing((poolSize) =>
        openPostgres(
          `${url()}?options=-c%20search_path%3Dtest_${schema}`,
          poolSize === undefined ? {} : { connections: poolSize },
        ),
      ),
    );
  });
}

function closing(open: OpenSql, removeAll = async (): Promise<void> => undefined): OpenSql {
  const opened: Sql[] = [];
  afterEach(async () => {
    // a test may have closed its database itself
    await Promise.allSettled(opened.splice(0).map((sql) => sql.close()));
    await removeAll();
  });
  return (poolSize) => {
    const sql = open(poolSize);
    opened.push(sql);
    return sql;
  };
}
