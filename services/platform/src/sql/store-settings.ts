import { ConfigError } from '../config/config-document.ts';
import { Secret } from '../secret.ts';
import { choice, convert, text } from '../config/settings.ts';
import type { ValuesOf } from '../config/settings.ts';
import { postgresKeys } from './postgres-settings.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { postgresTlsFault } from './postgres-tls.ts';
import type { Sql } from './sql.ts';
import type { OpenLogSync } from './sqlite-log-sync.ts';

/** The ways in which a start treats pending migrations: it runs them, or waits until `reelgate migrate` has run. */
export const MIGRATION_MODES = ['run', 'check'] as const;
export type MigrationMode = (typeof MIGRATION_MODES)[number];

/** The schema of a service. */
export interface ServiceSchema {
  /** The name of the service, and of the file of its embedded store. */
  readonly name: string;
  /** The folder of the numbered migrations. */
  readonly migrations: string;
}

/** The store of a service. */
export interface StoreSettings extends ServiceSchema {
  /** `postgres://…`, undefined for a file in the data folder. */
  readonly url: Secret | undefined;
  readonly postgres?: Partial<PostgresSettings>;
  /** Migrations run by default. */
  readonly mode?: MigrationMode;
  /** Syncs the log of an embedded store, by default through the system. */
  readonly openLog?: OpenLogSync | undefined;
  /** Opens a store with current tables, by default the server of the URL or the file. */
  readonly open?: (() => Promise<Sql>) | undefined;
}

/** The keys of a service's section that concern its store. */
export const storeKeys = {
  database: convert(
    text('`postgres://…`', {
      absent: 'embedded in `data_dir`',
      pattern: '^postgres(ql)?://',
      expects: 'a PostgreSQL URL such as postgres://host/name; empty: a file in data_dir',
      as: 'url',
    }),
    readDatabase,
  ),
  postgres: postgresKeys,
  migrations: choice(
    '`run`: a start runs what is new; `check`: it waits until `reelgate migrate` has',
    MIGRATION_MODES,
    { default: 'run', expects: 'one of: run, check; check leaves the migrations to reelgate migrate', as: 'mode' },
  ),
};

/** Takes the settings of the store out of those of a service. */
export function storeSettings(
  { url, postgres, mode }: ValuesOf<typeof storeKeys>,
  service: ServiceSchema,
): StoreSettings {
  return { ...service, url, postgres, mode };
}

/** Refuses a URL with TLS settings that cannot work. */
function readDatabase(database: string, at: string): Secret {
  const fault = addressFault(database) ?? postgresTlsFault(database);
  if (fault !== undefined) throw new ConfigError(`${at}: ${fault}`);
  return new Secret(database);
}

/** The text is not shown, because it can have a password. */
function addressFault(database: string): string | undefined {
  if (URL.canParse(database)) return undefined;
  return 'is no URL; expected postgres://role:password@host/name, with / # ? @ : of the password written as %2F %23 %3F %40 %3A';
}
