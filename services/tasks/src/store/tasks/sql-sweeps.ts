import { parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql } from '@reelgate/platform/sql/sql';
import { tokenScope, TOTAL_SCOPE } from '../../domain/in-flight-scope.ts';
import { recordColumns, removeFirst, selectTexts, text, toInsert, toJson } from '../columns.ts';
import type { DeadlineStore, ProcessStore, RemovalStore, RetentionStore } from '../task-store.ts';
import type { WriteNote } from './sql-history.ts';
import { COUNTED_COLUMNS, leaveSome } from './sql-in-flight.ts';
import type { CountedRow } from './sql-in-flight.ts';
import { CONTENT_FIELDS, TASK } from './task-rows.ts';
import { removeContent } from '../../domain/task.ts';
import { forgetWords } from '../prompts/sql-prompts.ts';

/** Literals, because SQLite does not match a parameter to the partial index. */
const NOT_YET = { soft: 'deadline_passed = 0', hard: 'deadline_passed IN (0, 1)' } as const;
const PASSED = { soft: 1, hard: 2 } as const;
/** The time of a task in the queue does not count: until its turn, no deadline has a number for it. */
const LIVES = "finished_at IS NULL AND admission <> 'submitting'";

export function sqlDeadlines(sql: Sql, note: WriteNote): DeadlineStore {
  return {
    listLate: (deadline, createdBefore, limit) =>
      TASK.selectFrom(
        sql.read,
        `tasks
         WHERE ${LIVES} AND ${NOT_YET[deadline]} AND created_at < $1 AND (began_at IS NULL OR began_at < $1)
         ORDER BY created_at LIMIT $2`,
        [createdBefore, limit],
      ),
    passDeadline: (taskId, deadline, at) =>
      sql.transaction(async (query) => {
        const [row] = await query<CountedRow & { readonly token_id: string }>(
          `UPDATE tasks SET deadline_passed = $1
           WHERE id = $2 AND ${LIVES} AND ${NOT_YET[deadline]} RETURNING token_id, ${COUNTED_COLUMNS}`,
          [PASSED[deadline], taskId],
        );
        if (row === undefined) return false;
        await note(query, taskId, at, { type: `${deadline}_deadline` });
        // The counter of the channel keeps the task, because its upstream may still have the work.
        if (deadline === 'hard') leaveSome(query, taskId, row, [tokenScope(row.token_id), TOTAL_SCOPE]);
        return true;
      }),
    listOverdue: (limit) =>
      TASK.selectFrom(
        sql.read,
        `tasks WHERE ${LIVES} AND deadline_passed = 2
           AND NOT EXISTS (SELECT 1 FROM attention WHERE attention.task_id = tasks.id AND resolved_at IS NULL)
         ORDER BY created_at LIMIT $1`,
        [limit],
      ),
  };
}

/** Maximum difference in milliseconds between the clock of an upstream and ours. */
const CLOCK_SLACK_MS = 60_000;

/**
 * The owner may still repeat the call with its key, a person must still decide, or a task with a lost answer could
 * otherwise adopt the work of this task.
 */
const NEEDED = `EXISTS (SELECT 1 FROM idempotency_keys WHERE idempotency_keys.task_id = tasks.id AND expires_at > $2)
  OR EXISTS (SELECT 1 FROM attention WHERE attention.task_id = tasks.id AND resolved_at IS NULL)
  OR EXISTS (SELECT 1 FROM tasks AS lost WHERE lost.admission = 'unknown' AND lost.finished_at IS NULL
    AND lost.upstream_account = tasks.upstream_account
    AND lost.created_at <= tasks.finished_at + ${CLOCK_SLACK_MS}
    AND lost.updated_at >= tasks.created_at - ${CLOCK_SLACK_MS})`;

export function sqlRetention(sql: Sql): RetentionStore {
  return {
    removeFinished: ({ before, now, limit }) =>
      sql.transaction(async (query) => {
        const ids = await selectTexts(
          query,
          'id',
          `tasks WHERE settled_at IS NOT NULL AND finished_at < $1 AND NOT (${NEEDED})
           ORDER BY finished_at LIMIT $3 ${sql.skipLocked}`,
          [before, now, limit],
        );
        if (ids.length === 0) return 0;
        const among = parameters(ids.length);
        for (const table of ['attempts', 'task_events', 'attention', 'idempotency_keys'])
          await query(`DELETE FROM ${table} WHERE task_id IN (${among})`, ids);
        await query(`DELETE FROM tasks WHERE id IN (${among})`, ids);
        return ids.length;
      }),
    removeKeys: (now, limit) => {
      const where = 'expires_at <= $1 ORDER BY expires_at LIMIT $2';
      return removeFirst(sql, { table: 'idempotency_keys', key: 'account_id, key', where }, [now, limit]);
    },
  };
}

export function sqlProcesses(sql: Sql): ProcessStore {
  return {
    heartbeat: async (processId, at) => {
      await sql.reserved.write(
        ...toInsert(
          'processes',
          { id: processId, beat_at: at },
          'ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at',
        ),
      );
    },
    heartbeats: async () =>
      new Map(
        (await sql.reserved.read('SELECT id, beat_at FROM processes')).map((row) => [
          text(row['id']),
          Number(row['beat_at']),
        ]),
      ),
    forget: async (processId) => {
      await sql.write('DELETE FROM processes WHERE id = $1', [processId]);
    },
    noteClockDoubt: async (at) => {
      await sql.reserved.write(...toInsert('clock_doubts', { at }, 'ON CONFLICT (at) DO NOTHING'));
    },
    listClockDoubts: async (from) =>
      (await sql.read('SELECT at FROM clock_doubts WHERE at >= $1 ORDER BY at', [from])).map(({ at }) => Number(at)),
  };
}

const CONTENT = recordColumns(CONTENT_FIELDS);
const HIDE = `UPDATE tasks SET deleted_at = $1, webhook_url = NULL
  WHERE id = $2 AND deleted_at IS NULL AND finished_at IS NOT NULL RETURNING ${CONTENT.list}`;
const STRIP = 'UPDATE tasks SET order_json = $1, result_json = $2, failure_json = $3, staged_json = NULL WHERE id = $4';
const STRIP_ATTEMPTS = 'UPDATE attempts SET error = NULL WHERE task_id = $1';

/** Hides a task from its owner, and removes the texts of the owner and the upstream, also from the search. */
export function sqlRemoval(sql: Sql): RemovalStore {
  let isLeft = false;
  const remove = (taskId: string, at: number): Promise<boolean> =>
    sql.transaction(async (query) => {
      const [row] = await query(HIDE, [at, taskId]);
      if (row === undefined) return false;
      const { accountId, order, result, failure } = removeContent(CONTENT.read(row));
      await query.changes(STRIP, [toJson(order), toJson(result), toJson(failure), taskId]);
      await query.changes(STRIP_ATTEMPTS, [taskId]);
      await forgetWords(query, { id: taskId, accountId });
      return true;
    });
  return {
    remove: async (taskId, at) => {
      const isRemoved = await remove(taskId, at);
      isLeft ||= isRemoved;
      return isRemoved;
    },
    eraseRemoved: async () => {
      if (!isLeft) return;
      isLeft = false;
      isLeft = !(await sql.emptyLog());
    },
  };
}
