import { readMigrations } from './migration-files.ts';
import type { Migration } from './migration-files.ts';
import { readSchemaState } from './schema-state.ts';
import type { SchemaState } from './schema-state.ts';
import type { Sql, SqlQuery } from './sql.ts';
import { StoreUnavailable } from './sql.ts';
import type { ServiceSchema } from './store-settings.ts';

type MigratedSql = Pick<Sql, 'engine' | 'transaction'>;

const ADVISORY_LOCK = 7_301_952;
const DEADLOCK = '40P01';
/** SQLite stores such a table as one tree, ordered by its key. PostgreSQL has no such option. */
const WITHOUT_ROWID = /\s+WITHOUT ROWID$/;
/** The maximum number of runs of migrations that PostgreSQL ends because they and running work wait for each other. */
const RUNS_MAX = 10;

/**
 * Runs the numbered `.sql` files that are new to this database, in order, in one transaction, and returns their names.
 * Several processes can start at the same moment. A file that has run must never change: another checksum stops the
 * start. The lock ends with the transaction, so that it also works behind a pooler. A new index waits for running
 * transactions, which can wait for another index of the same files. Such a deadlock leaves the database unchanged, and
 * all files run again.
 */
export async function migrate(sql: MigratedSql, folder: string): Promise<readonly string[]> {
  const migrations = readMigrations(folder);
  for (let runs = 1; ; runs += 1) {
    try {
      return await runPending(sql, migrations);
    } catch (error) {
      if (!isDeadlock(error) || runs === RUNS_MAX) throw error;
    }
  }
}

function isDeadlock(error: unknown): boolean {
  return (
    error instanceof StoreUnavailable && (error.cause as { readonly code?: unknown } | undefined)?.code === DEADLOCK
  );
}

function runPending(sql: MigratedSql, migrations: readonly Migration[]): Promise<readonly string[]> {
  return sql.transaction(async (query) => {
    if (sql.engine === 'postgres') await lockAlone(query);
    const { pending } = await readSchemaState(sql.engine, query, migrations);
    if (pending.length === 0) return [];
    await query('CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL)');
    await query('CREATE TABLE IF NOT EXISTS schema_contracts (name TEXT PRIMARY KEY, needs TEXT NOT NULL)');
    for (const migration of pending) await run(query, migration, sql.engine);
    return pending.map(({ name }) => name);
  });
}

/**
 * Waits for another process as long as its migrations may take. The migrations themselves do not wait longer for locks.
 */
async function lockAlone(query: SqlQuery): Promise<void> {
  const [limits] = await query<{ wait: string }>("SELECT current_setting('lock_timeout') AS wait");
  await query("SELECT set_config('lock_timeout', '0', true)");
  await query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
  await query("SELECT set_config('lock_timeout', $1, true)", [limits?.wait ?? '0']);
}

async function run(query: SqlQuery, migration: Migration, engine: Sql['engine']): Promise<void> {
  const { name, checksum, needs, statements } = migration;
  for (const statement of statements)
    await query(engine === 'sqlite' ? statement : statement.replace(WITHOUT_ROWID, ''));
  await query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [name, checksum]);
  if (needs !== undefined) await query('INSERT INTO schema_contracts (name, needs) VALUES ($1, $2)', [name, needs]);
}

/** Compares the database with the migrations of the folder, without writing. */
export async function readSchema(sql: Sql, folder: string): Promise<SchemaState> {
  return sql.transaction((query) => readSchemaState(sql.engine, query, readMigrations(folder)));
}

/** Refuses a schema without all migrations of the service. */
export async function assertMigrated(sql: Sql, { name: service, migrations }: ServiceSchema): Promise<void> {
  const { pending } = await readSchema(sql, migrations);
  if (pending.length > 0)
    throw new StoreUnavailable(
      `the schema lacks ${pending.map(({ name }) => name).join(', ')}; expected a run of reelgate migrate ${service}`,
    );
}
