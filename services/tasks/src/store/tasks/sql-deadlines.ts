import type { Sql } from '@reelgate/platform/sql/sql';
import { TOTAL_SCOPE, tokenScope } from '../../domain/in-flight-scope.ts';
import { TASK_COLUMNS, fromTaskRow } from './task-rows.ts';
import { COUNTED_COLUMNS, leaveSome } from './sql-in-flight.ts';
import type { CountedRow } from './sql-in-flight.ts';
import type { WriteNote } from './sql-notes.ts';
import type { DeadlineStore } from '../task-store.ts';

/** Literals, because SQLite does not match a parameter to the partial index. */
const NOT_YET = { soft: 'deadline_passed = 0', hard: 'deadline_passed IN (0, 1)' } as const;
const PASSED = { soft: 1, hard: 2 } as const;
const LIVES = "finished_at IS NULL AND admission <> 'submitting'";

export function sqlDeadlines(sql: Sql, note: WriteNote): DeadlineStore {
  return {
    listLate: async (deadline, createdBefore, limit) =>
      (
        await sql.read(
          `SELECT ${TASK_COLUMNS} FROM tasks
           WHERE ${LIVES} AND ${NOT_YET[deadline]} AND created_at < $1 ORDER BY created_at LIMIT $2`,
          [createdBefore, limit],
        )
      ).map(fromTaskRow),
    passDeadline: (taskId, deadline, at) =>
      sql.transaction(async (query) => {
        const [row] = await query<CountedRow & { token_id: string }>(
          `UPDATE tasks SET deadline_passed = $1
           WHERE id = $2 AND ${LIVES} AND ${NOT_YET[deadline]} RETURNING token_id, ${COUNTED_COLUMNS}`,
          [PASSED[deadline], taskId],
        );
        if (row === undefined) return false;
        await note(query, taskId, at, { type: `${deadline}_deadline` });
        // The counter of the channel keeps the task, because its upstream may still have the work.
        if (deadline === 'hard') await leaveSome(query, taskId, row, [tokenScope(row.token_id), TOTAL_SCOPE]);
        return true;
      }),
    listOverdue: async (limit) =>
      (
        await sql.read(
          `SELECT ${TASK_COLUMNS} FROM tasks WHERE ${LIVES} AND deadline_passed = 2
       AND NOT EXISTS (SELECT 1 FROM attention WHERE attention.task_id = tasks.id AND resolved_at IS NULL)
       ORDER BY created_at LIMIT $1`,
          [limit],
        )
      ).map(fromTaskRow),
  };
}
