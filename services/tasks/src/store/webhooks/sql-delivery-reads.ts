import { idList } from '@reelgate/platform/sql/id-list';
import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlRow } from '@reelgate/platform/sql/sql';
import type { Attempt, DeliveryState } from '../../domain/webhook.ts';
import { searchable, text } from '../tasks/task-rows.ts';
import type { DeliveryStore } from '../webhook-store.ts';
import { SELECT_DELIVERY, fromAttemptRow, fromDeliveryRow } from './webhook-rows.ts';

const FIND = byRows((rows) => `${SELECT_DELIVERY} WHERE d.id IN (${parameters(rows)})`);
const ATTEMPTS_MAX = 100;
/** The events of one list of deliveries, and the deliveries and attempts of one list with attempts. */
const EVENTS_MAX = 100;
const DELIVERIES_MAX = 100;
const ALL_ATTEMPTS_MAX = 1000;
/** Undelivered ones have an index of their own, because they are few. */
const IN_STATE: Readonly<Record<DeliveryState, string>> = {
  pending: "AND d.state <> 'delivered' AND d.state = 'pending'",
  failed: "AND d.state <> 'delivered' AND d.state = 'failed'",
  delivered: "AND d.state = 'delivered'",
};

type Reads = Pick<
  DeliveryStore,
  | 'findDeliveries'
  | 'listDeliveries'
  | 'findDelivery'
  | 'listAttempts'
  | 'listDeliveriesAbout'
  | 'listAttemptsByDelivery'
>;

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
    listDeliveriesAbout: async (accountId, subjectId, limit) =>
      (
        await sql.read(
          // A delivery has the account of its event. A second condition would make SQLite go along the whole account.
          `${SELECT_DELIVERY} WHERE d.event_id IN (SELECT id FROM (
             SELECT id FROM events WHERE subject_id = $2 AND account_id = $1 ORDER BY id DESC LIMIT $3
           ) AS about) ORDER BY d.id DESC LIMIT $4`,
          [searchable(accountId), searchable(subjectId), EVENTS_MAX, limit],
        )
      ).map(fromDeliveryRow),
    listAttemptsByDelivery: async (deliveryIds) => {
      if (deliveryIds.length === 0) return new Map<string, Attempt[]>();
      const { parameters: ids, values } = idList(deliveryIds, DELIVERIES_MAX, 2);
      const rows = await sql.read(
        `SELECT * FROM webhook_attempts WHERE delivery_id IN (${ids}) ORDER BY delivery_id DESC, number DESC LIMIT $1`,
        [ALL_ATTEMPTS_MAX, ...values],
      );
      const found = new Map<string, Attempt[]>(deliveryIds.map((id) => [id, []]));
      for (const row of rows.toReversed()) found.get(text(row['delivery_id']))?.push(fromAttemptRow(row));
      return found;
    },
    listAttempts: async (deliveryId) =>
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
