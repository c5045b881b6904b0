import type { NewId } from '@reelgate/platform/ids';
import { byRows, inChunks, parameters, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlWork } from '@reelgate/platform/sql/sql';
import { DEFAULT_ENDPOINT } from '../../domain/webhook.ts';
import type { DispatchedEvent, Endpoint } from '../../domain/webhook.ts';
import type { EventStore } from '../webhook-store.ts';
import { wakeReceivers } from './sql-receiver-due-times.ts';
import type { ReceiverName } from './sql-receiver-due-times.ts';
import { ENDPOINT_COLUMNS, EVENT_COLUMNS, fromDispatchedRow, fromEndpointRow } from './webhook-rows.ts';

/** The order leads PostgreSQL to the index, even if it takes many events to be new. */
const ANY_NEW = 'SELECT id FROM events WHERE seq IS NULL ORDER BY created_at, id LIMIT $1';
const LOCK_SEQUENCE = 'UPDATE event_sequence SET last = last WHERE id = $1';
const GIVE_PLACES = `
  WITH waiting AS (
    SELECT id AS event_id, created_at FROM events WHERE seq IS NULL ORDER BY created_at, id LIMIT $1
  ),
  placed AS (SELECT event_id, ROW_NUMBER() OVER (ORDER BY created_at, event_id) AS place FROM waiting)
  UPDATE events SET seq = placed.place + (SELECT last FROM event_sequence WHERE id = 1)
  FROM placed WHERE events.id = placed.event_id RETURNING ${EVENT_COLUMNS}`;
const MOVE_SEQUENCE = 'UPDATE event_sequence SET last = last + $1 WHERE id = 1';
const ENABLED = byRows(
  (rows) => `SELECT ${ENDPOINT_COLUMNS} FROM webhook_endpoints
    WHERE account_id IN (${parameters(rows)}) AND disabled_at IS NULL`,
);
const INSERT_DELIVERIES = byRows(
  (rows) => `INSERT INTO webhook_deliveries
    (id, event_id, event_type, subject_id, receiver_id, endpoint_id, account_id, url, due_at, created_at, state)
    VALUES ${valueRows(rows, 10, { rest: ", 'pending'" })} ON CONFLICT DO NOTHING`,
);

interface AddressedEvent {
  readonly event: DispatchedEvent;
  readonly receiver: ReceiverName;
  /** Null: the URL of the endpoint. */
  readonly url: string | null;
}

/** Gives new events their places and addresses them. */
export function sqlDispatch(sql: Sql, newId: NewId): Pick<EventStore, 'dispatch'> {
  return {
    dispatch: async ({ now, limit }) => {
      if ((await sql.read(ANY_NEW, [1])).length === 0) return 0;
      return sql.transaction(async (query) => {
        // The lock is held to the commit, so places become visible in their order.
        const [, rows] = await Promise.all([query(LOCK_SEQUENCE, [1]), query(GIVE_PLACES, [limit])]);
        if (rows.length === 0) return 0;
        const events = rows.map(fromDispatchedRow).toSorted((one, other) => one.seq - other.seq);
        const addressed = addressEvents(events, await findEnabledEndpoints(query, events));
        await Promise.all([
          query(MOVE_SEQUENCE, [events.length]),
          insertDeliveries(query, newId, addressed, now),
          wakeReceivers(
            query,
            addressed.map(({ receiver }) => receiver),
            now,
          ),
        ]);
        return events.length;
      });
    },
  };
}

async function findEnabledEndpoints(
  query: SqlQuery,
  events: readonly DispatchedEvent[],
): Promise<ReadonlyMap<string, readonly Endpoint[]>> {
  const accountIds = [...new Set(events.map(({ accountId }) => accountId))];
  const pages = await Promise.all(inChunks(accountIds).map((chunk) => query(ENABLED(chunk.length), chunk)));
  return Map.groupBy(pages.flat().map(fromEndpointRow), ({ accountId }) => accountId);
}

function addressEvents(
  events: readonly DispatchedEvent[],
  endpoints: ReadonlyMap<string, readonly Endpoint[]>,
): readonly AddressedEvent[] {
  return events.flatMap((event) => {
    const { accountId, type, url } = event;
    const hearing = (endpoints.get(accountId) ?? []).filter(({ eventTypes }) => eventTypes.includes(type));
    const addressed: AddressedEvent[] = hearing.map(({ id }) => ({
      event,
      receiver: { id, accountId, endpointId: id },
      url: null,
    }));
    // A URL that cannot be read would stop the events of all accounts.
    if (url !== undefined && URL.canParse(url))
      addressed.push({
        event,
        receiver: { id: `${accountId} ${new URL(url).origin}`, accountId, endpointId: DEFAULT_ENDPOINT },
        url,
      });
    return addressed;
  });
}

async function insertDeliveries(
  query: SqlWork,
  newId: NewId,
  addressed: readonly AddressedEvent[],
  now: number,
): Promise<void> {
  await Promise.all(
    inChunks(addressed).map((chunk) =>
      query.changes(
        INSERT_DELIVERIES(chunk.length),
        rowValues([], chunk, ({ event, receiver, url }) => [
          newId('whd'),
          event.id,
          event.type,
          event.subjectId,
          receiver.id,
          receiver.endpointId,
          event.accountId,
          url,
          now,
          now,
        ]),
      ),
    ),
  );
}
