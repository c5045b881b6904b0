import { stageEvent } from '@reelgate/platform/bus/outbox';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { Task } from '../../domain/task.ts';
import { TASK_COLUMNS, fromTaskRow, toJson } from './task-rows.ts';
import { COUNTED_COLUMNS, leaveCounters } from './sql-in-flight.ts';
import type { CountedRow } from './sql-in-flight.ts';
import { resolveAttention } from './sql-attention.ts';
import { UNFINISHED, sqlDueTimes, sqlLeases } from './sql-leases.ts';
import type { WriteNote } from './sql-notes.ts';
import type { Finish, MoveStore } from '../task-store.ts';

/** Makes the event of a finished task. */
export type FinishedEvent = (task: Task, finish: Finish) => { readonly type: string; readonly payload: string };

export function sqlMoves(sql: Sql, note: WriteNote, finishedEvent: FinishedEvent): MoveStore {
  return {
    ...sqlLeases(sql),
    ...sqlDueTimes(sql),
    ...sqlProgress(sql, note),
    ...sqlFinish(sql, note, finishedEvent),
    ...sqlAfterEnd(sql),
  };
}

/** The time of a visible change: later than the one before it, even if the clock was set back. */
const later = (at: string): string => `CASE WHEN updated_at >= ${at} THEN updated_at + 1 ELSE ${at} END`;

/** Whether the owner sees no difference. Of the upstream's word it sees only one that the adapter does not know. */
const UNCHANGED = 'state = $1 AND unrecognised = $3 AND progress = $4 AND ($3 = 0 OR upstream_status = $2)';

function sqlProgress(sql: Sql, note: WriteNote): Pick<MoveStore, 'progress'> {
  return {
    progress: (taskId, from, to, entry) =>
      sql.transaction(async (query) => {
        const rows = await query(
          `UPDATE tasks SET state = $1, upstream_status = $2, unrecognised = $3, progress = $4, poll_errors = $5,
           next_poll_at = CASE WHEN next_poll_at = COALESCE($10, next_poll_at) THEN $6 ELSE next_poll_at END,
           lease_until = NULL, owner = NULL,
           updated_at = CASE WHEN ${UNCHANGED} THEN updated_at ELSE ${later('$7')} END,
           doubt = $11, doubt_looks = $12
         WHERE id = $8 AND state = $9 AND ${UNFINISHED} AND next_poll_at IS NOT NULL RETURNING id`,
          [
            to.state,
            to.upstreamStatus ?? null,
            to.unrecognised ? 1 : 0,
            to.progress,
            to.pollErrors,
            to.nextPollAt,
            to.at,
            taskId,
            from,
            to.wasDueAt ?? null,
            to.doubt?.reason ?? null,
            to.doubt?.polls ?? 0,
          ],
        );
        if (rows.length > 0 && entry !== undefined) await note(query, taskId, to.at, entry);
        return rows.length > 0;
      }),
  };
}

function sqlFinish(sql: Sql, note: WriteNote, finishedEvent: FinishedEvent): Pick<MoveStore, 'finish'> {
  return {
    finish: (taskId, finish) =>
      sql.transaction(async (query) => {
        const [row] = await query<CountedRow>(
          `UPDATE tasks SET state = $1, upstream_status = COALESCE($2, upstream_status), unrecognised = 0,
           progress = $3, result_json = $4, failure_json = $5, usage_json = $6,
           expires_at = $7, finished_at = $8, settle_at = $8, updated_at = ${later('$8')}, next_poll_at = NULL,
           lease_until = NULL, owner = NULL, admission = 'accepted'
         WHERE id = $9 AND ${UNFINISHED} AND admission IN ('accepted', 'unknown')
         RETURNING ${TASK_COLUMNS}, ${COUNTED_COLUMNS}`,
          [
            finish.state,
            finish.upstreamStatus ?? null,
            finish.state === 'completed' ? 100 : 0,
            toJson(finish.result),
            toJson(finish.failure),
            toJson(finish.usage),
            finish.expiresAt ?? null,
            finish.at,
            taskId,
          ],
        );
        if (row === undefined) return false;
        const event = finishedEvent(fromTaskRow(row), finish);
        await stageEvent(query, { id: taskId, ...event }, finish.at);
        await resolveAttention(query, note, taskId, { resolution: 'ended', actor: 'service', at: finish.at });
        await note(query, taskId, finish.at, {
          type: finish.state,
          detail: { ...finish.failure, usage: finish.usage },
        });
        await leaveCounters(query, taskId, row);
        return true;
      }),
  };
}

function sqlAfterEnd(sql: Sql): Pick<MoveStore, 'markSettled' | 'putOffSettlement' | 'remove'> {
  return {
    markSettled: async (taskId, at) => {
      await sql.write('UPDATE tasks SET settled_at = $1 WHERE id = $2 AND settled_at IS NULL', [at, taskId]);
    },
    putOffSettlement: async (taskId, to) => {
      await sql.write(
        'UPDATE tasks SET settle_at = $1, settle_failures = settle_failures + 1 WHERE id = $2 AND settled_at IS NULL',
        [to, taskId],
      );
    },
    remove: async (taskId, at) =>
      (
        await sql.write(
          `UPDATE tasks SET deleted_at = $1
           WHERE id = $2 AND deleted_at IS NULL AND finished_at IS NOT NULL RETURNING id`,
          [at, taskId],
        )
      ).length > 0,
  };
}
