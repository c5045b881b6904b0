import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { pgBouncerServer } from '../../../test/servers/pgbouncer-server.ts';
import { openPostgres } from '../src/sql/postgres.ts';
import type { Sql } from '../src/sql/sql.ts';
import type { OpenSql } from './describe-on-engines.ts';

/** Runs tests behind a pooler in transaction mode. The database is empty at the start of each test. */
export function describePooled(title: string, tests: (open: OpenSql) => void): void {
  describeWith(pgBouncerServer, title, (url) => {
    const opened: Sql[] = [];
    let cleaner: Sql;
    beforeAll(() => {
      cleaner = openPostgres(url(), { connections: 1 });
    });
    beforeEach(async () => {
      await cleaner.write('DROP SCHEMA public CASCADE');
      await cleaner.write('CREATE SCHEMA public');
    });
    afterEach(async () => {
      // a test may have closed its database itself
      await Promise.allSettled(opened.splice(0).map((sql) => sql.close()));
    });
    afterAll(() => cleaner.close());
    tests((connections) => {
      const sql = openPostgres(url(), connections === undefined ? {} : { connections });
      opened.push(sql);
      return sql;
    });
  });
}
