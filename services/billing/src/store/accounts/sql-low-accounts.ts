import type { Sql } from '@reelgate/platform/sql/sql';
import type { CountLowAccounts } from './low-accounts.ts';

/** Accounts that one pass reads: one to two milliseconds of an embedded database. */
const PAGE = 250;
/** An account without a credit is low once its money is below zero. */
const NEXT = `SELECT COUNT(*) AS count, MAX(id) AS last,
    SUM(CASE WHEN left_nanos < COALESCE(credit_nanos, 0) / 10 THEN 1 ELSE 0 END) AS low
  FROM (SELECT a.id, a.balance_nanos - a.held_nanos AS left_nanos,
      (SELECT l.amount_nanos FROM financial_events e
         JOIN ledger_lines l ON l.event_key = e.event_key AND l.book = 'available:' || a.id
         WHERE e.account_id = a.id AND e.kind = 'credit' AND l.amount_nanos > 0
         ORDER BY e.occurred_at DESC LIMIT 1) AS credit_nanos
    FROM accounts a WHERE a.id > $1 ORDER BY a.id LIMIT $2) page`;

export function sqlLowAccounts(sql: Sql, page = PAGE): CountLowAccounts {
  return async ({ after, low }) => {
    const [row] = await sql.read(NEXT, [after, page]);
    return {
      after: String(row?.['last'] ?? ''),
      low: low + Number(row?.['low'] ?? 0),
      isWhole: Number(row?.['count'] ?? 0) < page,
    };
  };
}
