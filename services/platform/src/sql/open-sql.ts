import { mkdirSync } from 'node:fs';
import { assertMigrated, migrate } from './migrate.ts';
import { migrateStore } from './migrate-store.ts';
import { openStore } from './open-store.ts';
import type { Sql } from './sql.ts';
import type { StoreSettings } from './store-settings.ts';

export interface SqlOptions extends StoreSettings {
  readonly dataDir: string;
}

/**
 * Opens a service's database and brings its tables up to date. In the mode `check` it rejects with StoreUnavailable
 * while a migration has not run.
 */
export async function openSql(options: SqlOptions): Promise<Sql> {
  const { url, dataDir, migrations, postgres, mode = 'run' } = options;
  if (options.open !== undefined) return options.open();
  if (url !== undefined && mode === 'run') await migrateStore(options);
  if (url === undefined) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const sql = await openStore(options, postgres);
  try {
    if (mode === 'check') await assertMigrated(sql, options);
    else if (url === undefined) await migrate(sql, migrations);
  } catch (error) {
    await sql.close();
    throw error;
  }
  return sql;
}
