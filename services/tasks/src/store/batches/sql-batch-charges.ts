import type { Sql } from '@reelgate/platform/sql/sql';
import type { BatchChargeStore } from '../batch-store.ts';
import { text } from '../columns.ts';
import { holdLease } from './batch-rows.ts';

/** The condition of the index of lines with an uncounted charge, in its own text. */
export const UNCHARGED = "charged_nanos IS NULL AND task_id IS NOT NULL AND state IN ('completed', 'failed')";

/** The sum changes with its counted lines, in one transaction, so a repeat does not add to it. */
export function sqlBatchCharges(sql: Sql): BatchChargeStore {
  return {
    listUncharged: async (batchId, after, limit) =>
      (
        await sql.read(
          `SELECT number, task_id FROM batch_lines
           WHERE batch_id = $1 AND number > $2 AND ${UNCHARGED} ORDER BY number LIMIT $3`,
          [batchId, after, limit],
        )
      ).map((row) => ({ number: Number(row['number']), workId: text(row['task_id']) })),
    addCharges: ({ batchId, ...lease }, phase, { lines, currency }, until) =>
      sql.commitUnsynced(async (query) => {
        if ((await holdLease(query, { batchId, ...lease }, phase, until)) === undefined) return false;
        let added = 0n;
        for (const { number, nanos } of lines) {
          const counted = await query.changes(
            `UPDATE batch_lines SET charged_nanos = $1 WHERE batch_id = $2 AND number = $3 AND ${UNCHARGED}`,
            [nanos, batchId, number],
          );
          if (counted > 0) added += nanos;
        }
        await query(
          'UPDATE batches SET charged_nanos = charged_nanos + $1, currency = COALESCE(currency, $2) WHERE id = $3',
          [added, currency, batchId],
        );
        return true;
      }),
  };
}
