import path from 'node:path';
import type { Secret } from '../secret.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { openSqlite } from './sqlite.ts';
import type { OpenLogSync } from './sqlite-log-sync.ts';
import type { Sql } from './sql.ts';

/** The place of an embedded store. */
interface StorePlace {
  readonly dataDir: string;
  readonly name: string;
}

interface Store extends StorePlace {
  readonly url: Secret | undefined;
  readonly openLog?: OpenLogSync | undefined;
}

/** The file of an embedded store. */
export function storeFile({ dataDir, name }: StorePlace): string {
  return path.join(dataDir, `${name}.sqlite`);
}

/** Opens a store without a look at its tables. The driver of PostgreSQL loads only where a store is there. */
export async function openStore(store: Store, postgres: Partial<PostgresSettings> | undefined): Promise<Sql> {
  if (store.url === undefined) return openSqlite(storeFile(store), store.openLog);
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres(store.url.reveal(), postgres, store.name);
}
