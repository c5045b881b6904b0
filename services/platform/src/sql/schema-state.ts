import type { Migration } from './migration-files.ts';
import { listWithdrawn } from './withdrawn-migrations.ts';
import { StoreRefused } from './sql.ts';
import type { Sql, SqlQuery } from './sql.ts';

/** The migrations that a database has, compared with the migrations of this program. */
export interface SchemaState {
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
export async function readSchemaState(
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
