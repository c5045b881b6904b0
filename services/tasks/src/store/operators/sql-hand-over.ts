import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { ServiceEventSchema } from '@reelgate/proto/access/v1/service_event';
import { NoteSchema, RaisedAttentionSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { Note } from '@reelgate/proto/tasks/v1/operator_service';
import type { NewId } from '@reelgate/platform/ids';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import { floorToMinute } from '../../domain/minute-counts.ts';
import { inText, inTime, messageColumns, removeFirst, searchable, selectNumber, toInsert } from '../columns.ts';
import { NOTES_MAX } from '../operator-store.ts';
import type { HandOverStore, NoteStore } from '../operator-store.ts';
import type { WriteAct } from './sql-acts.ts';

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

const NOTE = messageColumns(NoteSchema, {
  id: inText('id'),
  subject: inText('subject'),
  at: inTime('at'),
  author: inText('author'),
  text: inText('note'),
});
/** As many notes as there are can take the same number at once, and each of them is beaten at most once by each other. */
const TRIES_MAX = NOTES_MAX + 1;

/** Of two notes at one moment that take the same number, one is written, so that the bound is exact. */
const ADD = buildStatement<'id' | 'subject' | 'at' | 'author' | 'text' | 'most'>(
  (of) => `INSERT INTO operator_notes (id, subject, number, at, author, note)
    SELECT ${of('id')}, CAST(${of('subject')} AS TEXT), COALESCE(MAX(number), 0) + 1, CAST(${of('at')} AS BIGINT),
      ${of('author')}, ${of('text')}
    FROM operator_notes WHERE subject = ${of('subject')} HAVING COUNT(*) < CAST(${of('most')} AS BIGINT)
    ON CONFLICT (subject, number) DO NOTHING RETURNING ${NOTE.list}`,
);

/** The notes of operators. One that has ended is in the acts alone. */
export function sqlOperatorNotes(sql: Sql, newId: NewId, writeAct: WriteAct): NoteStore {
  const listNotes = (query: SqlQuery, subject: string): Promise<readonly Note[]> =>
    NOTE.selectFrom(query, 'operator_notes WHERE subject = $1 ORDER BY number LIMIT $2', [
      searchable(subject),
      NOTES_MAX,
    ]);
  return {
    notes: (subject) => listNotes(sql.read, subject),
    findNote: (id) => NOTE.selectFirstFrom(sql.read, 'operator_notes WHERE id = $1', [searchable(id)]),
    addNote: (note) =>
      sql.transaction(async (query) => {
        const { subject, at, author, text } = note;
        for (let tries = 0; tries < TRIES_MAX; tries += 1) {
          const known = await listNotes(query, subject);
          const same = known.find((one) => one.author === author && one.text === text);
          if (same !== undefined) return same;
          if (known.length >= NOTES_MAX) return undefined;
          const [row] = await query(...ADD({ id: newId('note'), subject, at, author, text, most: NOTES_MAX }));
          if (row === undefined) continue;
          const added = NOTE.read(row);
          const act = { at, actor: author, action: 'note_added', subject, reason: '' } as const;
          await writeAct(query, { ...act, detail: { id: added.id } });
          return added;
        }
        return undefined;
      }),
    endNote: ({ id, at, actor, action }) =>
      sql.transaction(async (query) => {
        const [row] = await query(`DELETE FROM operator_notes WHERE id = $1 RETURNING ${NOTE.list}`, [searchable(id)]);
        if (row === undefined) return false;
        const { subject, author } = NOTE.read(row);
        const addedAt = Number(row['at']);
        await writeAct(query, { at, actor, action, subject, reason: '', detail: { id, author, addedAt } });
        return true;
      }),
  };
}
