import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { migrate } from '@reelgate/platform/sql/migrate';
import { openSqlite } from '@reelgate/platform/sql/sqlite';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { Hold } from '../domain/hold.ts';
import { sqlHoldStore } from './holds/sql-hold-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');
const NONE = { inputVideoSeconds: 0n, images: 0n, inputTokens: 0n, cachedInputTokens: 0n, outputTokens: 0n };
const LOG_PAGE_BYTES = 2048 + 24;

let folder = '';
let file = '';
let sql: Sql;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-billing-'));
  file = path.join(folder, 'billing.sqlite');
  sql = openSqlite(file);
});
afterEach(async () => {
  await sql.close();
  rmSync(folder, { recursive: true });
});

const aHold = (taskId: string, placedAt: number): Hold => ({
  taskId,
  accountId: 'demo',
  tokenId: 'token_1',
  amount: 1000n,
  currency: 'USD',
  priceVersion: 1,
  placedAt,
  facts: { ...NONE, priceKey: 'Alpha-H3', resolution: '768P', seconds: 5n, characters: 0n },
});

async function addAccount(): Promise<void> {
  await sql.write(
    "INSERT INTO accounts (id, currency, balance_nanos, held_nanos, created_at) VALUES ('demo', 'USD', 1000000000, 0, 1)",
  );
  await sql.write(
    `INSERT INTO tokens (id, account_id, name, models, used_nanos, key_hash, created_at)
     VALUES ('token_1', 'demo', 'a token', '["*"]', 0, 'a hash', 1)`,
  );
}

/** The pages that a commit of 24 holds writes, after many others. */
async function countPages(): Promise<number> {
  const holds = sqlHoldStore(sql);
  const place = (from: number, count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        holds.place(aHold(`task_${String(from + index).padStart(26, '0')}`, from + index)),
      ),
    );
  for (let from = 0; from < 480; from += 24) await place(from, 24);
  const before = statSync(`${file}-wal`).size;
  for (let from = 480; from < 960; from += 24) await place(from, 24);
  return (statSync(`${file}-wal`).size - before) / LOG_PAGE_BYTES / 20;
}

const hasRowIds = (table: string): Promise<boolean> =>
  sql.read(`SELECT rowid FROM ${table} LIMIT 1`).then(
    () => true,
    () => false,
  );

describe('the tables of an embedded store', () => {
  test('have no row ids, so that holds of one moment write two thirds of the pages', async () => {
    await migrate(sql, MIGRATIONS);
    await addAccount();

    expect(await hasRowIds('ledger_lines')).toBe(false);
    expect(await countPages()).toBeLessThan(27);
  });
});
