import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe } from '@jest/globals';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../test/servers/postgres-server.ts';
import { openPostgres } from '../src/sql/postgres.ts';
import { openSqlite } from '../src/sql/sqlite.ts';
import type { Sql } from '../src/sql/sql.ts';
import { buildSchemaUrl, openMigratedSchema } from './migrated-schema.ts';
import type { MigratedSchema } from './migrated-schema.ts';

/**
 * Opens the database of the running test. It is empty at the first call; a second call opens it as another process
 * would. Every connection is closed after the test.
 */
export type OpenSql = (poolSize?: number) => Sql;

/**
 * Runs the same tests on every engine. With the folder of the migrations that all the tests run, the database of a test
 * has their tables and rows already on PostgreSQL, so that they run once.
 */
export function describeOnEngines(title: string, tests: (open: OpenSql) => void, migrations?: string): void {
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
    const schema = migrations === undefined ? useNewSchemas(url) : useMigratedSchema(url, migrations);
    tests(
      closing((poolSize) =>
        openPostgres(buildSchemaUrl(url(), schema()), poolSize === undefined ? {} : { connections: poolSize }),
      ),
    );
  });
}

/** A schema for each test. Returns its name. */
function useNewSchemas(url: () => string): () => string {
  let schema = 0;
  beforeEach(async () => {
    schema += 1;
    const sql = openPostgres(url(), { connections: 1 });
    await sql.write(`CREATE SCHEMA test_${schema}`);
    await sql.close();
  });
  return () => `test_${schema}`;
}

function useMigratedSchema(url: () => string, migrations: string): () => string {
  const name = 'migrated';
  let schema: MigratedSchema | undefined;
  beforeEach(async () => {
    if (schema === undefined) schema = await openMigratedSchema(url(), name, migrations);
    else await schema.restore();
  });
  afterAll(() => schema?.close());
  return () => name;
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
