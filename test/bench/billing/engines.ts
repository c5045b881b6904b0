import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openPostgres } from '@reelgate/platform/sql/postgres';
import { openSqlite } from '@reelgate/platform/sql/sqlite';
import type { Sql } from '@reelgate/platform/sql/sql';
import { aConfig, openBilling, temporaryLocation } from '../../../services/billing/testing/open-billing.ts';
import type { TestBilling } from '../../../services/billing/testing/open-billing.ts';
import { CHAT_PRICES } from '../../../services/billing/testing/call-orders.ts';
import { newDatabases } from '../../harness/databases.ts';
import { postgresServer } from '../../servers/postgres-server.ts';

/** The service on an engine, and a bare table on the same engine. */
export interface Engine {
  readonly name: string;
  readonly on: TestBilling;
  readonly bare: Sql;
  end(): Promise<void>;
}

const PRICES = { 'Alpha-H3': { per_second: '0.000001' }, ...CHAT_PRICES };
const CREDIT = '1000000000';
const BARE = [
  `CREATE TABLE bare (
     id TEXT PRIMARY KEY, account_id TEXT NOT NULL, amount_nanos BIGINT NOT NULL, facts TEXT NOT NULL,
     placed_at BIGINT NOT NULL, charged_nanos BIGINT
   )`,
];

export async function sqliteEngine(): Promise<Engine> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-bare-'));
  return engine('SQLite', undefined, openSqlite(path.join(folder, 'bare.sqlite')), async () => {
    rmSync(folder, { recursive: true, force: true });
  });
}

/** Undefined if PostgreSQL is not installed. */
export async function postgresEngine(): Promise<Engine | undefined> {
  const server = await postgresServer.start();
  if (server === undefined) return undefined;
  const urls = await newDatabases(server.url);
  return engine('PostgreSQL', urls.billing, openPostgres(urls.tasks), () => server.stop());
}

async function engine(name: string, url: string | undefined, bare: Sql, stop: () => Promise<void>): Promise<Engine> {
  const place = temporaryLocation(url);
  const on = await openBilling(place, aConfig({ credit: CREDIT, prices: PRICES }));
  for (const statement of BARE) await bare.write(statement);
  return {
    name,
    on,
    bare,
    end: async () => {
      await on.stop();
      await bare.close();
      place.remove();
      await stop();
    },
  };
}
