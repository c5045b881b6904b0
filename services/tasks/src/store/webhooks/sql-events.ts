import type { NewId } from '@reelgate/platform/ids';
import { inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlRow, SqlStatement } from '@reelgate/platform/sql/sql';
import { DEFAULT_ENDPOINT, EVENT_TYPES } from '../../domain/webhook.ts';
import type { ClientEvent, DispatchedEvent, Endpoint, EventType } from '../../domain/webhook.ts';
import { findByIds, insertMany, searchable, selectNumber, text, toInsert } from '../columns.ts';
import type { DispatchCounts, EventDispatcher, EventPlaceReader, EventReader, EventWriter } from '../webhook-store.ts';
import { buildWakes } from './sql-receiver-due-times.ts';
import type { ReceiverName } from './sql-receiver-due-times.ts';
import { DISPATCHED, ENDPOINT, EVENT } from './webhook-rows.ts';

const findEvents = findByIds(EVENT, 'events');
const AFTER = `events
  WHERE account_id = $1 AND seq IS NOT NULL AND seq > $2 AND ($3 = '' OR subject_id = $3)
    AND type IN (${parameters(EVENT_TYPES.length, 5)}) ORDER BY seq LIMIT $4`;

/** The events of accounts in the order of their places. */
export function sqlEvents(sql: Sql): EventWriter & EventReader & EventPlaceReader {
  return {
    addEvent: async (event) => {
      await sql.write(...toInsert('events', EVENT.write(event), 'ON CONFLICT (id) DO NOTHING'));
    },
    eventsAfter: ({ accountId, types, subjectId }, seq, limit) =>
      DISPATCHED.selectFrom(sql.read, AFTER, [
        ...[searchable(accountId), seq, searchable(subjectId ?? ''), limit],
        ...allTypes(types),
      ]),
    findEvents: (ids) => findEvents(sql.read, ids),
    ...sqlPlaces(sql),
  };
}

function sqlPlaces(sql: Sql): EventPlaceReader {
  return {
    findPlace: (accountId, eventId) =>
      selectNumber(sql.read, 'seq', 'events WHERE id = $1 AND account_id = $2 AND seq IS NOT NULL', [
        searchable(eventId),
        searchable(accountId),
      ]),
    lastEvent: (accountId) =>
      DISPATCHED.selectFirstFrom(
        sql.read,
        'events WHERE account_id = $1 AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1',
        [searchable(accountId)],
      ),
    lastPlace: async () => (await selectNumber(sql.read, 'last', 'event_sequence WHERE id = 1')) ?? 0,
    lastPlaces: async (seq, limit) =>
      (
        await sql.read(
          `SELECT account_id, MAX(seq) AS last FROM (
             SELECT account_id, seq FROM events WHERE seq IS NOT NULL AND seq > $1 ORDER BY seq LIMIT $2
           ) AS newer GROUP BY account_id`,
          [seq, limit],
        )
      ).map((row) => ({ accountId: text(row['account_id']), seq: Number(row['last']) })),
  };
}

/** As many as there are types, so that there is one statement. */
function allTypes(types: readonly EventType[] = EVENT_TYPES): readonly string[] {
  return EVENT_TYPES.map((_type, index) => types[index] ?? types[0] ?? '');
}

/** The order leads PostgreSQL to the index, even if it takes many events to be new. */
const ANY_NEW = 'SELECT id FROM events WHERE seq IS NULL ORDER BY created_at, id LIMIT $1';
const LOCK_SEQUENCE = 'UPDATE event_sequence SET last = last WHERE id = $1';
const GIVE_PLACES = `
  WITH waiting AS (
    SELECT id AS event_id, created_at FROM events WHERE seq IS NULL ORDER BY created_at, id LIMIT $1
  ),
  placed AS (SELECT event_id, ROW_NUMBER() OVER (ORDER BY created_at, event_id) AS place FROM waiting)
  UPDATE events SET seq = placed.place + (SELECT last FROM event_sequence WHERE id = 1)
  FROM placed WHERE events.id = placed.event_id RETURNING ${DISPATCHED.list}`;
const MOVE_SEQUENCE = 'UPDATE event_sequence SET last = last + $1 WHERE id = 1';
/** Of the accounts with new places of events: the places above the last one, until that moves. */
const ENABLED = `SELECT ${ENDPOINT.list} FROM webhook_endpoints
  WHERE disabled_at IS NULL AND account_id IN (
    SELECT account_id FROM events WHERE seq IS NOT NULL AND seq > (SELECT last FROM event_sequence WHERE id = 1)
    ORDER BY seq LIMIT $1)
  ORDER BY account_id, id`;
const INSERT_DELIVERIES = insertMany(
  'webhook_deliveries',
  [
    'id',
    'event_id',
    'event_type',
    'subject_id',
    'receiver_id',
    'endpoint_id',
    'account_id',
    'url',
    'state',
    'due_at',
    'created_at',
  ],
  'ON CONFLICT DO NOTHING',
);

interface AddressedEvent {
  readonly event: DispatchedEvent;
  readonly receiver: ReceiverName;
  /** Null for the URL of the endpoint. */
  readonly url: string | null;
}

const NOTHING_NEW: DispatchCounts = { events: 0, deliveries: 0 };

/** Assigns new events their places and addresses them. */
export function sqlDispatch(sql: Sql, newId: NewId): EventDispatcher {
  return {
    dispatch: async ({ now, limit }) => {
      if ((await sql.read(ANY_NEW, [1])).length === 0) return NOTHING_NEW;
      return sql.transaction(async (query) => {
        // The lock is held to the commit, so places become visible in their order.
        const [, rows, endpoints] = await Promise.all([
          query(LOCK_SEQUENCE, [1]),
          query(GIVE_PLACES, [limit]),
          query(ENABLED, [limit]),
        ]);
        if (rows.length === 0) return NOTHING_NEW;
        const events = rows.map(DISPATCHED.read).toSorted((one, other) => one.seq - other.seq);
        const addressed = addressEvents(events, groupByAccount(endpoints));
        query.atEnd(
          [MOVE_SEQUENCE, [events.length]],
          ...buildDeliveries(newId, addressed, now),
          ...buildWakes(
            addressed.map(({ receiver }) => receiver),
            now,
          ),
        );
        return { events: events.length, deliveries: addressed.length };
      });
    },
  };
}

function groupByAccount(endpoints: readonly SqlRow[]): ReadonlyMap<string, readonly Endpoint[]> {
  return Map.groupBy(endpoints.map(ENDPOINT.read), ({ accountId }) => accountId);
}

function addressEvents(
  events: readonly DispatchedEvent[],
  endpoints: ReadonlyMap<string, readonly Endpoint[]>,
): readonly AddressedEvent[] {
  return events.flatMap((event) => {
    const { accountId, type, url } = event;
    const subscribed = (endpoints.get(accountId) ?? []).filter(({ eventTypes }) => eventTypes.includes(type));
    const addressed: AddressedEvent[] = subscribed.map(({ id }) => ({
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

function buildDeliveries(newId: NewId, addressed: readonly AddressedEvent[], now: number): readonly SqlStatement[] {
  return inChunks(addressed).map((chunk) =>
    INSERT_DELIVERIES(
      chunk.map(({ event, receiver, url }) => ({
        id: newId('whd'),
        event_id: event.id,
        event_type: event.type,
        subject_id: event.subjectId,
        receiver_id: receiver.id,
        endpoint_id: receiver.endpointId,
        account_id: event.accountId,
        url,
        state: 'pending',
        due_at: now,
        created_at: now,
      })),
    ),
  );
}

type NewEvent = Omit<ClientEvent, 'id' | 'dataJson'>;

/** Writes an event for clients, in the transaction of the fact that it reports. */
export interface WriteEvent {
  (query: SqlQuery, event: NewEvent): Promise<void>;
  /** The statement that writes it. */
  readonly build: (event: NewEvent) => SqlStatement;
}

export function sqlEventWrites(newId: NewId): WriteEvent {
  const build = (event: NewEvent): SqlStatement => toInsert('events', EVENT.write({ ...event, id: newId('evt') }));
  const write = async (query: SqlQuery, event: NewEvent): Promise<void> => {
    await query(...build(event));
  };
  return Object.assign(write, { build });
}
