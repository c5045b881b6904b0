import type { Sql, SqlRow, SqlValue } from '../src/sql/sql.ts';

/** Both tell how a database was migrated, and not what was written to it. */
const OF_MIGRATIONS: ReadonlySet<string> = new Set(['schema_migrations', 'schema_contracts']);
const TABLES = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  postgres: `SELECT relname AS name FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
} as const;

/** The rows of every table that has some, in an order that follows from the rows alone. */
export type TableDump = Readonly<Record<string, readonly SqlRow[]>>;

export interface DumpOptions {
  /** Columns that are left out, by the names of their tables; `*` is every table. */
  readonly without?: Readonly<Record<string, readonly string[]>>;
}

/** Reads all rows, in a form that two engines with the same content share. */
export async function dumpTables(sql: Sql, { without = {} }: DumpOptions = {}): Promise<TableDump> {
  const tables = (await sql.read<{ name: string }>(TABLES[sql.engine])).map(({ name }) => name);
  const dump: Record<string, readonly SqlRow[]> = {};
  for (const table of tables.filter((name) => !OF_MIGRATIONS.has(name)).toSorted()) {
    const hidden = new Set([...(without['*'] ?? []), ...(without[table] ?? [])]);
    const rows = (await sql.read(`SELECT * FROM ${table}`)).map((row) => toSortedRow(row, hidden));
    if (rows.length > 0) dump[table] = rows.toSorted(compareRows);
  }
  return dump;
}

function toSortedRow(row: SqlRow, hidden: ReadonlySet<string>): SqlRow {
  const columns = Object.keys(row).filter((column) => !hidden.has(column));
  return Object.fromEntries(columns.toSorted().map((column) => [column, row[column] ?? null]));
}

function compareRows(one: SqlRow, other: SqlRow): number {
  const [a, b] = [toText(one), toText(other)];
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function toText(row: SqlRow): string {
  return JSON.stringify(row, (_column, value: SqlValue) => (typeof value === 'bigint' ? `${value}n` : value));
}
