import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { BookedCredit } from './account-store.ts';

type Whole = number | bigint;
type CreditRow = { event_key: string; occurred_at: Whole; reason: string; actor: string; amount_nanos: Whole };

const CREDITS = `SELECT e.event_key, e.occurred_at, e.reason, e.actor, l.amount_nanos FROM financial_events e
  JOIN ledger_lines l ON l.event_key = e.event_key AND l.book = 'available:' || e.account_id
  WHERE e.account_id = $1 AND e.kind = 'credit' ORDER BY e.occurred_at DESC, e.event_key DESC LIMIT $2`;

export async function readCredits(query: SqlQuery, accountId: string, limit: number): Promise<BookedCredit[]> {
  const rows = await query<CreditRow>(CREDITS, [accountId, limit]);
  return rows.map((row) => ({
    key: row.event_key,
    at: Number(row.occurred_at),
    amount: BigInt(row.amount_nanos),
    reason: row.reason,
    actor: row.actor,
  }));
}
