import type { NewId } from '@reelgate/platform/ids';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { NoteSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { Note } from '@reelgate/proto/tasks/v1/operator_service';
import { inText, inTime, messageColumns, searchable } from '../columns.ts';
import { NOTES_MAX } from '../operator-store.ts';
import type { NoteStore } from '../operator-store.ts';
import type { WriteAct } from './sql-acts.ts';

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
