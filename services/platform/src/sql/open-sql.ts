import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { migrate } from './migrate.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import type { Sql } from './sql.ts';

export interface SqlOptions {
  /** `postgres://…`; undefined: a file in the data folder. */
  readonly url: string | undefined;
  readonly dataDir: string;
  /** The name of the file. */
  readonly name: string;
  /** The folder of the numbered migrations. */
  readonly migrations: string;
}

/** Opens a service's database and brings its tables up to date. */
export async function openSql({ url, dataDir, name, migrations }: SqlOptions): Promise<Sql> {
  if (url === undefined) mkdirSync(dataDir, { recursive: true });
  const sql = url === undefined ? openSqlite(path.join(dataDir, `${name}.sqlite`)) : openPostgres(url);
  try {
    await migrate(sql, migrations);
  } catch (error) {
    await sql.close();
    throw error;
  }
  return sql;
}
