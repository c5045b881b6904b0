import { existsSync, mkdirSync } from 'node:fs';
import { migrate, readSchema } from './migrate.ts';
import { readMigrations } from './migration-files.ts';
import { openStore, storeFile } from './open-store.ts';
import type { Sql } from './sql.ts';
import type { StoreSettings } from './store-settings.ts';

/** An index of a large table takes longer than a statement of a service may. */
const MIGRATION_MS = 30 * 60_000;

/** It needs the right to write, and writes no row. */
const NO_WRITE = 'UPDATE schema_migrations SET name = name WHERE FALSE';

type Store = StoreSettings & { readonly dataDir: string };

/** The names of the migrations that have not run, and of those that only a newer release knows. */
export interface SchemaReport {
  readonly pending: readonly string[];
  readonly unknown: readonly string[];
}

/** Runs the migrations of a service that its store does not have, on a connection of its own. Returns their names. */
export async function migrateStore(store: Store): Promise<readonly string[]> {
  if (store.url === undefined) mkdirSync(store.dataDir, { recursive: true, mode: 0o700 });
  return withStore(store, (sql) => migrate(sql, store.migrations));
}

/** Compares a store with the migrations of its service. Does not write, and creates no file. */
export async function checkStore(store: Store): Promise<SchemaReport> {
  if (store.url === undefined && !existsSync(storeFile(store)))
    return { pending: readMigrations(store.migrations).map(({ name }) => name), unknown: [] };
  return withStore(store, async (sql) => {
    const { pending, unknown } = await readSchema(sql, store.migrations);
    return { pending: pending.map(({ name }) => name), unknown };
  });
}

/** Rejects with the fault that a start would meet, and changes no data. Opens no new embedded store. */
export async function probeStore(store: Store): Promise<void> {
  const { pending } = await checkStore(store);
  if (store.url === undefined || store.mode === 'check') return;
  const undone = new Error('the transaction is undone');
  const write = pending.length > 0 ? 'CREATE TABLE reelgate_probe (id INTEGER)' : NO_WRITE;
  await withStore(store, (sql) =>
    sql.transaction(async (query) => {
      await query(write);
      throw undone;
    }),
  ).catch((error: unknown) => {
    if (error !== undone) throw error;
  });
}

async function withStore<T>(store: Store, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = await openStore(store, { ...store.postgres, connections: 1, statementMs: MIGRATION_MS });
  try {
    return await work(sql);
  } finally {
    await sql.close();
  }
}
