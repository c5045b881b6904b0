import { inChunks, byRows, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlWork } from '@reelgate/platform/sql/sql';
import type { Call } from '../../domain/call.ts';

const INSERT = 'INSERT INTO unconfirmed_batches (batch_id, lapses_at) VALUES ($1, $2)';
const CONFIRM = 'DELETE FROM unconfirmed_batches WHERE batch_id = $1';
const CONFIRM_OF = byRows(
  (rows) => `DELETE FROM unconfirmed_batches
  WHERE batch_id IN (SELECT placed_in FROM calls WHERE id IN (${parameters(rows)}))`,
);
const OVER = 'SELECT batch_id FROM unconfirmed_batches WHERE lapses_at <= $1 LIMIT 1';
const REMOVE_OVER = 'DELETE FROM unconfirmed_batches WHERE lapses_at <= $1';

/** Marks the batch as one whose answers no client may see yet. */
export async function markUnconfirmed(query: SqlWork, batchId: string, calls: readonly Call[]): Promise<void> {
  const lapsesAt = calls.reduce((latest, call) => Math.max(latest, call.lapsesAt), 0);
  await query.changes(INSERT, [batchId, lapsesAt]);
}

/** From then on a client may see an answer to a call of the batch. The mark survives a kill of the process. */
export async function confirm(sql: Sql, batchId: string): Promise<void> {
  await sql.commitUnsynced((query) => query.changes(CONFIRM, [batchId]));
}

/** Confirms the batches in which the calls were placed. */
export async function confirmCallBatches(query: SqlQuery, ids: readonly string[]): Promise<void> {
  for (const chunk of inChunks(ids)) await query(CONFIRM_OF(chunk.length), chunk);
}

/** Removes the batches of which every call has lapsed. */
export async function removeLapsed(sql: Sql, now: number): Promise<void> {
  if ((await sql.read(OVER, [now])).length > 0) await sql.write(REMOVE_OVER, [now]);
}
