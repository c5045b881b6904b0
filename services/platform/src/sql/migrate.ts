import { readMigrations } from './migration-files.ts';
import type { Migration } from './migration-files.ts';
import type { Sql, SqlQuery } from './sql.ts';
import { StoreUnavailable, StoreRefused } from './sql.ts';
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

/** The migrations that a database has, compared with the migrations of this program. */
interface SchemaState {
  /** In the order in which they run. */
  readonly pending: readonly Migration[];
  /** Migrations of a newer release, which this program does not know. */
  readonly unknown: readonly string[];
}

const EXISTING = {
  postgres: `SELECT COUNT(to_regclass('schema_migrations')) AS migrations,
    COUNT(to_regclass('schema_contracts')) AS contracts`,
  sqlite: `SELECT COUNT(*) FILTER (WHERE name = 'schema_migrations') AS migrations,
    COUNT(*) FILTER (WHERE name = 'schema_contracts') AS contracts FROM sqlite_master WHERE type = 'table'`,
} as const;

/**
 * Compares a database with the migrations of this program, without writing. Accepts the schema of a newer release
 * unless a migration of it needs one that this program does not have.
 */
async function readSchemaState(
  engine: Sql['engine'],
  query: SqlQuery,
  migrations: readonly Migration[],
): Promise<SchemaState> {
  const [tables] = await query<{ migrations: number; contracts: number }>(EXISTING[engine]);
  const known = new Set(migrations.map(({ name }) => name));
  const done = new Map(
    tables?.migrations === 1
      ? (await query<{ name: string; checksum: string }>('SELECT name, checksum FROM schema_migrations')).map((row) => [
          row.name,
          row.checksum,
        ])
      : [],
  );
  const [withdrawn] = listWithdrawn(done);
  if (withdrawn !== undefined)
    throw new StoreRefused(
      `a Reelgate from before the first release wrote this store (it has ${withdrawn}), and this one cannot read it; ` +
        'carry its balances over into a new store with reelgate account export, as deploy/README.md says under ' +
        "'A store from before the first release'",
    );
  if (tables?.contracts === 1)
    assertContracts(await query<Contract>('SELECT name, needs FROM schema_contracts'), known);
  for (const { name, checksum } of migrations)
    if (done.has(name) && done.get(name) !== checksum)
      throw new StoreRefused(`migration ${name} was edited after it ran; restore it and add a new file`);
  return {
    pending: migrations.filter(({ name }) => !done.has(name)),
    unknown: [...done.keys()].filter((name) => !known.has(name)).sort(),
  };
}

type Contract = Readonly<Record<'name' | 'needs', string>>;

function assertContracts(contracts: readonly Contract[], known: ReadonlySet<string>): void {
  for (const { name, needs } of contracts)
    if (!known.has(needs))
      throw new StoreRefused(
        `a newer release wrote this store: ${name} needs a program with ${needs}, and this one ends at ` +
          `${[...known].sort().at(-1) ?? 'none'}; start that release or a later one, or restore a backup of this one`,
      );
}

/**
 * The beginnings of the checksums of migrations that ran before the first release and were edited, renamed or put together
 * since. The list is closed: a migration of a release never changes.
 */
const WITHDRAWN: ReadonlySet<string> = new Set(
  `
  06bb50d808d4 108264094df0 17e9dd748f35 183f6df5b852 1c08f5d1afd7 1f727f0fba00 216abcb3bc91 22d542edb2f5
  253c01f340d8 26c43dc3d095 2f658d5efbda 30522e07fc72 308a6a4a5a87 321987c6225b 39346878e632 39c0bae7aca2
  3c09abcaac82 419c05509076 43c79eb09a2d 451263cfd85b 46602f1861ae 47111a4f3747 4c57231144f1 4cf15315d31b
  5051ceb0b8f7 50e8ba8fe2c0 52f8997d23da 5614b886a71a 56ffcd0f2f92 5c65759d3d41 5ef0abccdab6 6366189a3686
  68d8f5d59440 6acfea479899 701bc4403a19 71bd8f580253 7286df8ace98 7501731548b9 79450f688e34 7c09ea99ec14
  7d0c6b9ad23e 7dbc5755497c 8463b6b2c9da 909a0b8b6ff8 90cc2d28531d 91bfbc218d1a 932c2209310c 94f7f10c420b
  994b61224374 99ffb208bfcd 9e401a055f4b a0be805fb344 a68b54f73c76 a776a054c538 a7e9486be869 b4046a371621
  b675d4ecfe8f b8ccb5a07b88 bae5358b1b8b bd1e8263c0bc c5ad12daf601 c858f55f6df3 c90de9a914f9 c9a1ccd60c5c
  caee6f21edac cf824586fcd9 d15368375a23 d20806b72277 d6c46c766909 d6fcb9d16136 da2f282fef48 dc11bd9e65f0
  dedcf06a6579 dfa581b71953 e35c375ea70c e45ec3b97dbe ec5637f18f85 f1ba44cae9c6 f6e884bb4624 f9266d92318d
  `.match(/[0-9a-f]+/g),
);
const LENGTH = 12;

/** The names of migrations, in their order, that only a program from before the first release has. */
export function listWithdrawn(done: ReadonlyMap<string, string>): readonly string[] {
  return [...done].flatMap(([name, checksum]) => (WITHDRAWN.has(checksum.slice(0, LENGTH)) ? [name] : [])).sort();
}
