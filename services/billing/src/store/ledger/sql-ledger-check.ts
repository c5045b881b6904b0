import type { Sql } from '@reelgate/platform/sql/sql';
import type { CheckLedgerPage } from './ledger-check.ts';

/** Events that one pass reads, of the newest ones and of the round. */
const PAGE = 500;

/**
 * Selects the events of a page whose lines do not sum to zero, in one currency. The sum of a few amounts fits 64
 * bits.
 */
const selectFaulty = (page: string): string => `SELECT page.event_key AS subject FROM (${page}) page
  LEFT JOIN ledger_lines l ON l.event_key = page.event_key
  WHERE page.kind <> 'void' GROUP BY page.event_key
  HAVING COUNT(l.book) < 2 OR COUNT(DISTINCT l.currency) > 1 OR SUM(l.amount_nanos) <> 0`;
const NEWEST = selectFaulty(`SELECT event_key, kind FROM financial_events
  WHERE task_id IS NOT NULL ORDER BY task_id DESC LIMIT $1`);
const NEXT = selectFaulty(
  'SELECT event_key, kind FROM financial_events WHERE event_key > $1 ORDER BY event_key LIMIT $2',
);
const END_OF_NEXT = `SELECT MAX(event_key) AS last, COUNT(*) AS count FROM (
  SELECT event_key FROM financial_events WHERE event_key > $1 ORDER BY event_key LIMIT $2) page`;

export function sqlLedgerCheck(sql: Sql, page = PAGE): CheckLedgerPage {
  return async ({ after, faults }) => {
    const newest = await sql.read(NEWEST, [page]);
    const found = await sql.read(NEXT, [after, page]);
    const [end] = await sql.read(END_OF_NEXT, [after, page]);
    return {
      round: { after: String(end?.['last'] ?? ''), faults: faults + found.length },
      isLast: Number(end?.['count'] ?? 0) < page,
      newestFaults: newest.length,
    };
  };
}
