import type { SqlQuery } from '@reelgate/platform/sql/sql';
import { isBalanced } from '../../domain/ledger.ts';
import type { FinancialEvent } from '../../domain/ledger.ts';
import { byRows, rowValues, valueRows } from '../sql-multi-row.ts';

const INSERT_EVENT = `INSERT INTO financial_events (event_key, kind, account_id, task_id, reason, actor, occurred_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (event_key) DO NOTHING RETURNING event_key`;

const LINE_COLUMNS = 4;
const INSERT_LINES = byRows(
  (rows) =>
    `INSERT INTO ledger_lines (event_key, book, currency, amount_nanos) VALUES ${valueRows(rows, LINE_COLUMNS)}`,
);

/** Writes the event with its lines. False: its key is taken, and nothing was written. */
export async function recordEvent(query: SqlQuery, event: FinancialEvent): Promise<boolean> {
  if (!isBalanced(event.postings)) throw new Error(`the lines of the event ${event.key} do not sum to zero`);
  const { key, kind, accountId, taskId = null, currency, reason, actor, at } = event;
  const written = await query(INSERT_EVENT, [key, kind, accountId, taskId, reason, actor, at]);
  if (written.length === 0) return false;
  await query(
    INSERT_LINES(event.postings.length),
    rowValues([], event.postings, ({ book, amount }) => [key, book, currency, amount]),
  );
  return true;
}

/** Removes an event that the same transaction wrote, so that no other transaction can have seen it. */
export async function withdrawEvent(query: SqlQuery, key: string): Promise<void> {
  await query('DELETE FROM ledger_lines WHERE event_key = $1', [key]);
  await query('DELETE FROM financial_events WHERE event_key = $1', [key]);
}

/** Takes the key of a hold and moves no money. False: the key is taken. */
export async function recordVoid(
  query: SqlQuery,
  { key, taskId, actor, at }: Pick<FinancialEvent, 'key' | 'taskId' | 'actor' | 'at'>,
): Promise<boolean> {
  return (await query(INSERT_EVENT, [key, 'void', null, taskId ?? null, '', actor, at])).length > 0;
}
