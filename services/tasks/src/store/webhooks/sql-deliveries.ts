import { firstIdAt } from '@reelgate/platform/ids';
import { byRows, inChunks, parameters, idList } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlRow, SqlWork } from '@reelgate/platform/sql/sql';
import { runStatements } from '@reelgate/platform/sql/transaction';
import type { Attempt, DeliveryState } from '../../domain/webhook.ts';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import { readChunks, searchable, text } from '../columns.ts';
import type { DeliveryReader, ResendStore } from '../webhook-store.ts';
import { closeCircuit, buildWakes } from './sql-receiver-due-times.ts';
import { ATTEMPT, DELIVERY, SELECT_DELIVERY } from './webhook-rows.ts';

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

/** Deliveries as their owners see them. */
export function sqlDeliveryReads(sql: Sql): DeliveryReader {
  return {
    findDeliveries: async (ids) => {
      const rows = await readChunks(sql.read, FIND, ids);
      return new Map(rows.map((row) => [text(row['id']), DELIVERY.read(row)]));
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
      ).map(DELIVERY.read);
    },
    findDelivery: async (accountId, deliveryId) => {
      const [row] = await sql.read(`${SELECT_DELIVERY} WHERE d.id = $1 AND d.account_id = $2`, [
        searchable(deliveryId),
        searchable(accountId),
      ]);
      return row === undefined ? undefined : DELIVERY.read(row);
    },
    listDeliveriesAbout: async (accountId, subjectId, limit) =>
      (
        await sql.read(
          // A delivery has the account of its event. With a second condition SQLite would go along the whole account.
          `${SELECT_DELIVERY} WHERE d.event_id IN (SELECT id FROM (
             SELECT id FROM events WHERE subject_id = $2 AND account_id = $1 ORDER BY id DESC LIMIT $3
           ) AS about) ORDER BY d.id DESC LIMIT $4`,
          [searchable(accountId), searchable(subjectId), EVENTS_MAX, limit],
        )
      ).map(DELIVERY.read),
    listAttemptsByDelivery: async (deliveryIds) => {
      if (deliveryIds.length === 0) return new Map<string, Attempt[]>();
      const { parameters: ids, values } = idList(deliveryIds, DELIVERIES_MAX, 2);
      const rows = await sql.read(
        `SELECT delivery_id, ${ATTEMPT.list} FROM webhook_attempts WHERE delivery_id IN (${ids}) ORDER BY delivery_id DESC, number DESC LIMIT $1`,
        [ALL_ATTEMPTS_MAX, ...values],
      );
      const found = new Map<string, Attempt[]>(deliveryIds.map((id) => [id, []]));
      for (const row of rows.toReversed()) found.get(text(row['delivery_id']))?.push(ATTEMPT.read(row));
      return found;
    },
    listAttempts: async (deliveryId) =>
      (
        await ATTEMPT.selectFrom(sql.read, 'webhook_attempts WHERE delivery_id = $1 ORDER BY number DESC LIMIT $2', [
          searchable(deliveryId),
          ATTEMPTS_MAX,
        ])
      ).toReversed(),
  };
}

const RESEND = `UPDATE webhook_deliveries SET due_at = CASE WHEN due_at < $2 THEN due_at ELSE $2 END,
    attempts_before = attempts, hurries = 0, state = 'pending', ended_at = NULL
  WHERE id = $1`;
const FIND_FAILED = buildStatement<'accountId' | 'endpointId' | 'firstId' | 'limit' | 'at'>(
  (of) => `SELECT id, receiver_id, endpoint_id, account_id FROM webhook_deliveries
    WHERE account_id = ${of('accountId')} AND endpoint_id = ${of('endpointId')} AND id >= ${of('firstId')}
      AND state <> 'delivered' AND (state = 'failed' OR due_at > ${of('at')})
    ORDER BY id LIMIT ${of('limit')}`,
);
const RESEND_FAILED = byRows(
  (rows) => `UPDATE webhook_deliveries
    SET state = 'pending', attempts_before = attempts, due_at = $1, hurries = 0, ended_at = NULL
    WHERE (state = 'failed' OR due_at > $1) AND id IN (${parameters(rows, 2)})`,
);

/** Deliveries that their owners send again. */
export function sqlResends(sql: Sql): ResendStore {
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
        ...FIND_FAILED({
          accountId: searchable(accountId),
          endpointId: searchable(endpointId),
          firstId: firstIdAt('whd', since),
          limit,
          at,
        }),
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
  await Promise.all([runStatements(query, buildWakes(receivers, at)), ...ids.map((id) => closeCircuit(query, id, at))]);
}
