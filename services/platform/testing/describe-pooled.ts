import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { pgBouncerServer } from '../../../test/servers/pgbouncer-server.ts';
import { openPostgres } from '../src/sql/postgres.ts';
import type { Sql } from '../src/sql/sql.ts';
import type { OpenSql } from './describe-on-engines.ts';
import { migrateSchema } from './migrated-schema.ts';
import type { MigratedSchema } from './migrated-schema.ts';

/**
 * Runs tests behind a pooler in transaction mode. The database is empty at the start of each test, or has the tables and
 * rows of the migrations.
 */
export function describePooled(title: string, tests: (open: OpenSql) => void, migrations?: string): void {
  describeWith(pgBouncerServer, title, (url) => {
    const opened: Sql[] = [];
    let cleaner: Sql;
    let schema: Pick<MigratedSchema, 'restore'> | undefined;
    beforeAll(() => {
      cleaner = openPostgres(url(), { connections: 1 });
    });
    beforeEach(async () => {
      if (migrations === undefined) {
        await cleaner.write('DROP SCHEMA public CASCADE');
        await cleaner.write('CREATE SCHEMA public');
      } else if (schema === undefined) schema = await migrateSchema(cleaner, 'public', migrations);
      else await schema.restore();
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
