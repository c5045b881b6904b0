import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import type { RebuildResult } from './ledger-audit.ts';
import { rebuildUsage } from './sql-rebuild-usage.ts';

const TOKEN_IDS = 'SELECT id FROM tokens';
const LOCK_TOKEN = 'UPDATE tokens SET used_nanos = used_nanos WHERE id = $1';
const ACCOUNT_IDS = 'SELECT id FROM accounts';
const LOCK_ACCOUNT = 'UPDATE accounts SET held_nanos = held_nanos WHERE id = $1';

const MEND_TOKENS = `UPDATE tokens SET used_nanos = s.nanos FROM (
    SELECT t.id AS subject, CAST(COALESCE(h.nanos, 0) + COALESCE(c.nanos, 0) AS BIGINT) AS nanos FROM tokens t
    LEFT JOIN (SELECT token_id,
      SUM(CASE WHEN state = 'open' THEN amount_nanos ELSE COALESCE(charged_nanos, 0) END) AS nanos
      FROM holds GROUP BY token_id) h ON h.token_id = t.id
    LEFT JOIN (SELECT token_id, SUM(CASE WHEN ended_at IS NULL THEN amount_nanos ELSE charged_nanos END) AS nanos
      FROM calls GROUP BY token_id) c ON c.token_id = t.id) AS s
  WHERE tokens.id = s.subject AND tokens.used_nanos <> s.nanos RETURNING id`;
const MEND_ACCOUNTS = `UPDATE accounts SET held_nanos = s.held, balance_nanos = s.balance FROM (
    SELECT a.id AS subject, CAST(COALESCE(h.nanos, 0) AS BIGINT) AS held,
      CAST(COALESCE(h.nanos, 0) + COALESCE(v.nanos, 0) AS BIGINT) AS balance FROM accounts a
    LEFT JOIN (SELECT book, SUM(amount_nanos) AS nanos FROM ledger_lines WHERE book LIKE 'available:%' GROUP BY book) v
      ON v.book = 'available:' || a.id
    LEFT JOIN (SELECT book, SUM(amount_nanos) AS nanos FROM ledger_lines WHERE book LIKE 'held:%' GROUP BY book) h
      ON h.book = 'held:' || a.id) AS s
  WHERE accounts.id = s.subject AND (accounts.held_nanos <> s.held OR accounts.balance_nanos <> s.balance)
  RETURNING id`;

/**
 * Locks every row of tokens and accounts before it sums them, in the order that all transactions use. A transaction
 * that has posted lines and waits for such a row has not committed. So its lines are not in the sums, and it adds them
 * to the row afterwards.
 */
export async function rebuild(query: SqlQuery, engine: Sql['engine']): Promise<RebuildResult> {
  const used = await rebuildUsage(query, engine);
  for (const id of await readSortedIds(query, TOKEN_IDS)) await query(LOCK_TOKEN, [id]);
  for (const id of await readSortedIds(query, ACCOUNT_IDS)) await query(LOCK_ACCOUNT, [id]);
  const tokens = await query<{ id: string }>(MEND_TOKENS);
  const accounts = await query<{ id: string }>(MEND_ACCOUNTS);
  return {
    accountIds: [...new Set([...used, ...accounts.map(({ id }) => id)])].sort(),
    tokenIds: tokens.map(({ id }) => id),
  };
}

/** Sorted by code unit, like in the batches: a database can sort by the rules of a language. */
async function readSortedIds(query: SqlQuery, text: string): Promise<string[]> {
  return (await query<{ id: string }>(text)).map(({ id }) => id).sort();
}
