import type { NewId } from '@reelgate/platform/ids';
import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { Note } from '../task-store.ts';

/** Writes an entry of the history of a task, in the transaction of the change. */
export type WriteNote = (query: SqlQuery, taskId: string, at: number, note: Note) => Promise<void>;

export function sqlNotes(newId: NewId): WriteNote {
  return async (query, taskId, at, { type, detail = {} }) => {
    await query('INSERT INTO task_events (id, task_id, at, type, detail_json) VALUES ($1, $2, $3, $4, $5)', [
      newId('ev'),
      taskId,
      at,
      type,
      JSON.stringify(detail),
    ]);
  };
}
