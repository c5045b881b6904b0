import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlRow } from '@reelgate/platform/sql/sql';
import type { DeliveryState } from '../../domain/webhook.ts';
import { searchable, text } from '../tasks/task-rows.ts';
import type { DeliveryStore } from '../webhook-store.ts';
import { SELECT_DELIVERY, fromAttemptRow, fromDeliveryRow } from './webhook-rows.ts';

const FIND = byRows((rows) => `${SELECT_DELIVERY} WHERE d.id IN (${parameters(rows)})`);
const ATTEMPTS_MAX = 100;
/** Undelivered ones have an index of their own, because they are few. */
const IN_STATE: Readonly<Record<DeliveryState, string>> = {
  pending: "AND d.state <> 'delivered' AND d.state = 'pending'",
  failed: "AND d.state <> 'delivered' AND d.state = 'failed'",
  delivered: "AND d.state = 'delivered'",
};

type Reads = Pick<DeliveryStore, 'findDeliveries' | 'listDeliveries' | 'findDelivery' | 'attemptsOf'>;

/** Deliveries as their owners see them. */
export function sqlDeliveryReads(sql: Sql): Reads {
  return {
    findDeliveries: async (ids) => {
      const rows: SqlRow[] = [];
      for (const chunk of inChunks(ids)) rows.push(...(await sql.read(FIND(chunk.length), chunk)));
      return new Map(rows.map((row) => [text(row['id']), fromDeliveryRow(row)]));
    },
    listDeliveries: async ({ accountId, endpointId, state }, { limit, after }) => {
      const inState = state === undefined ? '' : IN_STATE[state];
      const from = after === undefined ? '' : 'AND d.id < $4';
      return (
        await sql.read(
          `${SELECT_DELIVERY} WHERE d.account_id = $1 AND d.endpoint_id = $2 ${inState} ${from}
           ORDER BY d.id DESC LIMIT $3`,
          [searchable(accountId), searchable(endpointId), limit, ...(after === undefined ? [] : [searchable(after)])],
        )
      ).map(fromDeliveryRow);
    },
    findDelivery: async (accountId, deliveryId) => {
      const [row] = await sql.read(`${SELECT_DELIVERY} WHERE d.id = $1 AND d.account_id = $2`, [
        searchable(deliveryId),
        searchable(accountId),
      ]);
      return row === undefined ? undefined : fromDeliveryRow(row);
    },
    attemptsOf: async (deliveryId) =>
      (
        await sql.read('SELECT * FROM webhook_attempts WHERE delivery_id = $1 ORDER BY number DESC LIMIT $2', [
          searchable(deliveryId),
          ATTEMPTS_MAX,
        ])
      )
        .map(fromAttemptRow)
        .toReversed(),
  };
}
