import { firstIdAt } from '@reelgate/platform/ids';
import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlRow, SqlWork } from '@reelgate/platform/sql/sql';
import { searchable, text } from '../tasks/task-rows.ts';
import type { DeliveryStore } from '../webhook-store.ts';
import { closeCircuit, wakeReceivers } from './sql-receiver-due-times.ts';

const RESEND = `UPDATE webhook_deliveries SET due_at = CASE WHEN due_at < $2 THEN due_at ELSE $2 END,
    attempts_before = attempts, hurries = 0, state = 'pending', ended_at = NULL
  WHERE id = $1`;
const RESEND_FAILED = byRows(
  (rows) => `UPDATE webhook_deliveries
    SET state = 'pending', attempts_before = attempts, due_at = $1, hurries = 0, ended_at = NULL
    WHERE (state = 'failed' OR due_at > $1) AND id IN (${parameters(rows, 2)})`,
);

/** Deliveries that their owners send again. */
export function sqlResends(sql: Sql): Pick<DeliveryStore, 'resend' | 'resendFailed'> {
  return {
    resend: async (accountId, deliveryId, at) => {
      const found = await sql.read(
        'SELECT id, receiver_id, endpoint_id, account_id FROM webhook_deliveries WHERE id = $1 AND account_id = $2',
        [searchable(deliveryId), searchable(accountId)],
      );
      if (found.length === 0) return false;
      return sql.transaction(async (query) => {
        const [, resent] = await Promise.all([wake(query, found, at), query.changes(RESEND, [deliveryId, at])]);
        return resent > 0;
      });
    },
    resendFailed: async ({ accountId, endpointId, since, limit }, at) => {
      const failed = await sql.read(
        `SELECT id, receiver_id, endpoint_id, account_id FROM webhook_deliveries
         WHERE account_id = $1 AND endpoint_id = $2 AND id >= $3 AND state <> 'delivered' AND (state = 'failed' OR due_at > $5)
         ORDER BY id LIMIT $4`,
        [searchable(accountId), searchable(endpointId), firstIdAt('whd', since), limit, at],
      );
      if (failed.length === 0) return 0;
      const ids = failed.map((row) => text(row['id']));
      return sql.transaction(async (query) => {
        const [, ...resent] = await Promise.all([
          wake(query, failed, at),
          ...inChunks(ids).map((chunk) => query.changes(RESEND_FAILED(chunk.length), [at, ...chunk])),
        ]);
        return resent.reduce((sum, count) => sum + count, 0);
      });
    },
  };
}

/** Their owner says that the receivers work: their circuits need not wait. */
async function wake(query: SqlWork, deliveries: readonly SqlRow[], at: number): Promise<void> {
  const receivers = deliveries.map((row) => ({
    id: text(row['receiver_id']),
    accountId: text(row['account_id']),
    endpointId: text(row['endpoint_id']),
  }));
  const ids = [...new Set(receivers.map(({ id }) => id))].toSorted();
  await Promise.all([wakeReceivers(query, receivers, at), ...ids.map((id) => closeCircuit(query, id, at))]);
}
