import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { migrate } from '@reelgate/platform/sql/migrate';
import { openStore } from '@reelgate/platform/sql/open-store';
import type { Sql } from '@reelgate/platform/sql/sql';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');

/** The first commit that had the first migration of each service. None of them is the migration of the first release. */
const FIRST = { billing: 'b47bf19b', tasks: 'a1db2a50', media: '0d84a8f8' } as const;
export type OldService = keyof typeof FIRST;
export const OLD_SERVICES = Object.keys(FIRST) as readonly OldService[];

/** Makes the tables of a service as its first commit made them, in an empty database. */
export async function makeOldTables(sql: Sql, service: OldService): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-old-store-'));
  const name = `0001_${service}.sql`;
  try {
    const { stdout } = await run('git', ['show', `${FIRST[service]}:services/${service}/migrations/${name}`], {
      cwd: ROOT,
    });
    writeFileSync(path.join(folder, name), stdout);
    await migrate(sql, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Makes the embedded stores of all services as their first commits made them. `fill` writes into that of billing. */
export async function makeOldStores(dataDir: string, fill: (sql: Sql) => Promise<unknown>): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  for (const name of OLD_SERVICES) {
    const sql = await openStore({ dataDir, name, url: undefined }, undefined);
    await makeOldTables(sql, name);
    if (name === 'billing') await fill(sql);
    await sql.close();
  }
}
