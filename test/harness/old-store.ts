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
/** The last commit whose services had several migrations. */
const LAST_CHAIN = '46b966d8';
export type OldService = keyof typeof FIRST;
export const OLD_SERVICES = Object.keys(FIRST) as readonly OldService[];

/** Makes the tables of a service as its first commit made them, in an empty database. */
export async function makeOldTables(sql: Sql, service: OldService): Promise<void> {
  await migrateByCommit(FIRST[service], [`services/${service}/migrations/0001_${service}.sql`], sql);
}

/** Creates the tables of a service as the last commit with several migrations did, in an empty database. */
export async function createChainedTables(sql: Sql, service: OldService): Promise<void> {
  const listed = await git('ls-tree', '--name-only', LAST_CHAIN, `services/${service}/migrations/`);
  await migrateByCommit(LAST_CHAIN, listed.trim().split('\n'), sql);
}

async function migrateByCommit(commit: string, files: readonly string[], sql: Sql): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-old-store-'));
  try {
    for (const file of files)
      writeFileSync(path.join(folder, path.basename(file)), await git('show', `${commit}:${file}`));
    await migrate(sql, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function git(...args: readonly string[]): Promise<string> {
  return (await run('git', args, { cwd: ROOT })).stdout;
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
