import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../test/servers/postgres-server.ts';
import { migrate } from '../src/sql/migrate.ts';
import { openPostgres } from '../src/sql/postgres.ts';
import { openSqlite } from '../src/sql/sqlite.ts';
import type { LogSync } from '../src/sql/sqlite-log-sync.ts';
import type { Sql } from '../src/sql/sql.ts';
import { buildSchemaUrl, openMigratedSchema } from './migrated-schema.ts';
import type { MigratedSchema } from './migrated-schema.ts';

/** One schema is emptied again and again, because migrations take far longer than a sequence. */
const SCHEMA = 'sequences';
const CONNECTIONS_A_PROCESS = 2;
/** No power fails during a test, so no sequence waits for the disk. */
const NO_SYNC: LogSync = { sync: async () => undefined, close: async () => undefined };

/** A migrated database without rows. Each call opens it as another process would. */
export type OpenDatabase = () => Sql;

/** An engine with one database, whose tables are those of a service. */
export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL';
  /**
   * Gives the work a database without rows, whatever an earlier work wrote. Connections are closed when the work ends.
   */
  withDatabase<T>(work: (open: OpenDatabase) => Promise<T>): Promise<T>;
}

export interface BothEngines {
  readonly sqlite: Engine;
  readonly postgres: Engine;
}

/** A describe block whose tests run the same work on both engines. `engines` can be called only while tests run. */
export function describeOnBothEngines(
  title: string,
  migrations: string,
  tests: (engines: () => BothEngines) => void,
): void {
  describeWith(postgresServer, title, (url) => {
    let engines: BothEngines | undefined;
    let folder = '';
    let schema: MigratedSchema | undefined;
    beforeAll(async () => {
      folder = mkdtempSync(path.join(tmpdir(), 'reelgate-both-engines-'));
      schema = await openMigratedSchema(url(), SCHEMA, migrations);
      engines = { sqlite: await sqliteEngine(folder, migrations), postgres: postgresEngine(url(), schema) };
    });
    afterAll(async () => {
      await schema?.close();
      rmSync(folder, { recursive: true, force: true });
    });
    tests(() => {
      if (engines === undefined) throw new Error('the engines do not run yet: ask for them within a test');
      return engines;
    });
  });
}

/** Each database is a copy of one file that was migrated once. */
async function sqliteEngine(folder: string, migrations: string): Promise<Engine> {
  const template = path.join(folder, 'template.sqlite');
  const migrated = openSqlite(template, async () => NO_SYNC);
  await migrate(migrated, migrations);
  await migrated.close();
  let databases = 0;
  return {
    name: 'SQLite',
    withDatabase: async (work) => {
      const file = path.join(folder, `${(databases += 1)}.sqlite`);
      copyFileSync(template, file);
      try {
        return await closeAfter(() => openSqlite(file, async () => NO_SYNC), work);
      } finally {
        for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
      }
    },
  };
}

function postgresEngine(server: string, schema: MigratedSchema): Engine {
  const url = buildSchemaUrl(server, schema.name);
  return {
    name: 'PostgreSQL',
    withDatabase: async (work) => {
      await schema.restore();
      return closeAfter(() => openPostgres(url, { connections: CONNECTIONS_A_PROCESS }), work);
    },
  };
}

async function closeAfter<T>(open: OpenDatabase, work: (open: OpenDatabase) => Promise<T>): Promise<T> {
  const opened: Sql[] = [];
  const openAnother = (): Sql => {
    const sql = open();
    opened.push(sql);
    return sql;
  };
  try {
    return await work(openAnother);
  } finally {
    await Promise.allSettled(opened.map((sql) => sql.close()));
  }
}
