import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlRow } from '@reelgate/platform/sql/sql';
import { EVENT_TYPES } from '../../domain/webhook.ts';
import type { EventType } from '../../domain/webhook.ts';
import { searchable, text } from '../tasks/task-rows.ts';
import type { EventStore } from '../webhook-store.ts';
import { EVENT_COLUMNS, fromDispatchedRow, fromEventRow } from './webhook-rows.ts';

const FIND = byRows((rows) => `SELECT ${EVENT_COLUMNS} FROM events WHERE id IN (${parameters(rows)})`);
const AFTER = `SELECT ${EVENT_COLUMNS} FROM events
  WHERE account_id = $1 AND seq IS NOT NULL AND seq > $2 AND ($3 = '' OR subject_id = $3)
    AND type IN (${parameters(EVENT_TYPES.length, 5)}) ORDER BY seq LIMIT $4`;

/** The events of accounts in the order of their places. */
export function sqlEvents(sql: Sql): Omit<EventStore, 'dispatch'> {
  return {
    addEvent: async (event) => {
      await sql.write(
        `INSERT INTO events (id, account_id, type, subject_id, created_at, url, data_json, request_id, trace,
           work_created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING`,
        [
          event.id,
          event.accountId,
          event.type,
          event.subjectId,
          event.createdAt,
          event.url ?? null,
          event.dataJson ?? null,
          event.origin?.requestId ?? null,
          event.origin?.trace ?? null,
          event.origin?.createdAt ?? null,
        ],
      );
    },
    eventsAfter: async ({ accountId, types, subjectId }, seq, limit) =>
      (await sql.read(AFTER, [searchable(accountId), seq, searchable(subjectId ?? ''), limit, ...allTypes(types)])).map(
        fromDispatchedRow,
      ),
    findEvents: async (ids) => {
      const rows: SqlRow[] = [];
      for (const chunk of inChunks(ids)) rows.push(...(await sql.read(FIND(chunk.length), chunk)));
      return new Map(rows.map((row) => [text(row['id']), fromEventRow(row)]));
    },
    ...sqlPlaces(sql),
  };
}

function sqlPlaces(sql: Sql): Pick<EventStore, 'findPlace' | 'lastEvent' | 'lastPlace' | 'lastPlaces'> {
  return {
    findPlace: async (accountId, eventId) => {
      const [row] = await sql.read('SELECT seq FROM events WHERE id = $1 AND account_id = $2 AND seq IS NOT NULL', [
        searchable(eventId),
        searchable(accountId),
      ]);
      return row === undefined ? undefined : Number(row['seq']);
    },
    lastEvent: async (accountId) => {
      const [row] = await sql.read(
        `SELECT ${EVENT_COLUMNS} FROM events
         WHERE account_id = $1 AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1`,
        [searchable(accountId)],
      );
      return row === undefined ? undefined : fromDispatchedRow(row);
    },
    lastPlace: async () =>
      Number((await sql.read('SELECT last FROM event_sequence WHERE id = $1', [1]))[0]?.['last'] ?? 0),
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
