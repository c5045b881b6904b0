import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Sql } from '@reelgate/platform/sql/sql';
import { ServiceEventSchema } from '@reelgate/proto/access/v1/service_event';
import { RaisedAttentionSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { floorToMinute } from '../../domain/minute-counts.ts';
import { inText, inTime, messageColumns, removeFirst, selectNumber, toInsert } from '../columns.ts';
import type { HandOverStore } from '../operator-store.ts';

const EVENT = messageColumns(ServiceEventSchema, {
  at: inTime('at'),
  type: inText('type'),
  subject: inText('subject'),
});

const RAISED = messageColumns(RaisedAttentionSchema, {
  taskId: inText('task_id'),
  at: inTime('since'),
  reason: inText('reason'),
  open: { columns: ['resolved_at'], read: (row) => row['resolved_at'] === null, write: () => ({}) },
});

/** The events since an operator read last. */
export function sqlHandOver(sql: Sql): HandOverStore {
  return {
    addServiceEvents: (events) =>
      sql.transaction(async (query) => {
        for (const { at, ...event } of events)
          await query(
            ...toInsert(
              'service_events',
              { ...EVENT.write({ ...event, at: timestampFromMs(at) }), minute: floorToMinute(at) },
              'ON CONFLICT (minute, type, subject) DO NOTHING',
            ),
          );
      }),
    listServiceEvents: (at, limit) =>
      EVENT.selectFrom(
        sql.read,
        'service_events WHERE minute >= $1 AND at >= $2 ORDER BY minute DESC, type DESC, subject DESC LIMIT $3',
        [floorToMinute(at), at, limit],
      ),
    raisedSince: (at, limit) =>
      RAISED.selectFrom(sql.read, 'attention WHERE since >= $1 ORDER BY since DESC LIMIT $2', [at, limit]),
    findMark: (actor) => selectNumber(sql.read, 'read_until', 'hand_over_marks WHERE actor = $1', [actor]),
    putMark: async (actor, readUntil) => {
      const [row] = await sql.write(
        ...toInsert(
          'hand_over_marks',
          { actor, read_until: readUntil },
          `ON CONFLICT (actor) DO UPDATE SET read_until =
             CASE WHEN excluded.read_until > hand_over_marks.read_until
               THEN excluded.read_until ELSE hand_over_marks.read_until END
           RETURNING read_until`,
        ),
      );
      return Number(row?.['read_until']);
    },
    removeServiceEvents: async (before, limit) => {
      await sql.write(
        'DELETE FROM hand_over_marks WHERE actor IN (SELECT actor FROM hand_over_marks WHERE read_until < $1 LIMIT $2)',
        [before, limit],
      );
      const where = 'minute < $1 ORDER BY minute LIMIT $2';
      return removeFirst(sql, { table: 'service_events', key: 'minute, type, subject', where }, [before, limit]);
    },
  };
}
