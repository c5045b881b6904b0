import { idList } from '@reelgate/platform/sql/id-list';
import { stageEvent } from '@reelgate/platform/bus/outbox';
import type { Sql, SqlQuery, SqlRow } from '@reelgate/platform/sql/sql';
import type { Task } from '../../domain/task.ts';
import { TASK_COLUMNS, fromTaskRow, optionalNumber, optionalText, toJson } from './task-rows.ts';
import { COUNTED_COLUMNS, leaveCounters } from './sql-in-flight.ts';
import type { CountedRow } from './sql-in-flight.ts';
import { resolveAttention } from './sql-attention.ts';
import type { AttentionWrites } from './sql-attention.ts';
import { UNFINISHED, sqlDueTimes, sqlLeases } from './sql-leases.ts';
import type { WriteNote } from './sql-notes.ts';
import type { WriteEvent } from '../webhooks/sql-event-writes.ts';
import { SETTLED_MAX } from '../task-store.ts';
import type { Finish, MoveStore, PhaseTimes } from '../task-store.ts';

/** Makes the event of a finished task for other services. */
export type ToFinishedEvent = (task: Task, finish: Finish) => { readonly type: string; readonly payload: string };

const ENDED_BY_SERVICE = { resolution: 'ended', actor: 'service' };

interface FinishWrites extends AttentionWrites {
  readonly finishedEvent: ToFinishedEvent;
  readonly writeEvent: WriteEvent;
}

export function sqlMoves(sql: Sql, writes: FinishWrites): MoveStore {
  return {
    ...sqlLeases(sql),
    ...sqlDueTimes(sql),
    ...sqlProgress(sql, writes.note),
    ...sqlFinish(sql, writes),
    ...sqlAfterEnd(sql),
  };
}

/** The time of a visible change: later than the one before it, even if the clock was set back. */
const later = (at: string): string => `CASE WHEN updated_at >= ${at} THEN updated_at + 1 ELSE ${at} END`;

/** True if the owner sees no difference. The owner sees the upstream's word only if the adapter does not know it. */
const UNCHANGED = 'state = $1 AND unrecognised = $3 AND progress = $4 AND ($3 = 0 OR upstream_status = $2)';

const PROGRESS = `UPDATE tasks SET state = $1, upstream_status = $2, unrecognised = $3, progress = $4, poll_errors = $5,
    next_poll_at = CASE WHEN next_poll_at = COALESCE($10, next_poll_at) THEN $6 ELSE next_poll_at END,
    lease_until = NULL, owner = NULL,
    updated_at = CASE WHEN ${UNCHANGED} THEN updated_at ELSE ${later('$7')} END,
    doubt = $11, doubt_looks = $12, polls = polls + 1, poll_spans = COALESCE($13, poll_spans), resumed = 0,
    working_at = CASE WHEN $1 = 'in_progress' THEN COALESCE(working_at, $7) ELSE working_at END
  WHERE id = $8 AND state = $9 AND ${UNFINISHED} AND next_poll_at IS NOT NULL RETURNING id`;

function sqlProgress(sql: Sql, note: WriteNote): Pick<MoveStore, 'progress'> {
  return {
    progress: async (taskId, from, to, entry) => {
      const values = [
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
        to.pollSpans ?? null,
      ];
      // Most polls change nothing that has an entry: they are one statement.
      if (entry === undefined) return (await sql.write(PROGRESS, values)).length > 0;
      return sql.transaction(async (query) => {
        const rows = await query(PROGRESS, values);
        if (rows.length > 0) await note(query, taskId, to.at, entry);
        return rows.length > 0;
      });
    },
  };
}

/** The last attempt of a task is the one whose upstream has the work. */
const PHASE_COLUMNS =
  'working_at, (SELECT MAX(ended_at) FROM attempts WHERE attempts.task_id = tasks.id) AS accepted_at';
type FinishedRow = CountedRow & Pick<SqlRow, 'working_at' | 'accepted_at' | 'webhook_url'>;

/** Takes an end back whose decision did not wait any more. */
class NotWaiting extends Error {}

function sqlFinish(sql: Sql, writes: FinishWrites): Pick<MoveStore, 'finish'> {
  const { note, finishedEvent, writeEvent } = writes;
  const finishIn = async (query: SqlQuery, taskId: string, finish: Finish): Promise<PhaseTimes | undefined> => {
    const [row] = await query<FinishedRow>(
      `UPDATE tasks SET state = $1, upstream_status = COALESCE($2, upstream_status), unrecognised = 0,
         progress = $3, result_json = $4, failure_json = $5, usage_json = $6,
         expires_at = $7, finished_at = $8, settle_at = $8, updated_at = ${later('$8')}, next_poll_at = NULL,
         lease_until = NULL, owner = NULL, admission = 'accepted'
       WHERE id = $9 AND ${UNFINISHED} AND admission IN ('accepted', 'unknown')
       RETURNING ${TASK_COLUMNS}, ${COUNTED_COLUMNS}, ${PHASE_COLUMNS}, webhook_url`,
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
    if (row === undefined) return undefined;
    const task = fromTaskRow(row);
    const [, , hasWaited] = await Promise.all([
      stageEvent(query, { id: taskId, ...finishedEvent(task, finish), carrier: finish.trace }, finish.at),
      writeEvent(query, {
        accountId: task.accountId,
        type: `video.${finish.state}`,
        subjectId: taskId,
        createdAt: finish.at,
        url: optionalText(row.webhook_url),
        origin: { requestId: task.requestId, trace: task.trace, createdAt: task.createdAt },
      }),
      resolveAttention(query, writes, taskId, { ...(finish.decision ?? ENDED_BY_SERVICE), at: finish.at }),
      note(query, taskId, finish.at, {
        type: finish.state,
        detail: { ...finish.failure, usage: finish.usage, fetch_ms: finish.fetchMs },
      }),
      leaveCounters(query, taskId, row),
    ]);
    if (finish.decision !== undefined && !hasWaited) throw new NotWaiting();
    return {
      acceptedAt: optionalNumber(row.accepted_at),
      workingAt: optionalNumber(row.working_at),
      ...(hasWaited ? { hasWaited } : {}),
    };
  };
  return {
    finish: async (taskId, finish) => {
      try {
        return await sql.transaction((query) => finishIn(query, taskId, finish), finish.trace);
      } catch (error) {
        if (error instanceof NotWaiting) return undefined;
        throw error;
      }
    },
  };
}

function sqlAfterEnd(sql: Sql): Pick<MoveStore, 'markSettled' | 'putOffSettlement' | 'remove'> {
  return {
    markSettled: async (taskIds, at) => {
      const { parameters, values } = idList(taskIds, SETTLED_MAX, 2);
      await sql.write(`UPDATE tasks SET settled_at = $1 WHERE id IN (${parameters}) AND settled_at IS NULL`, [
        at,
        ...values,
      ]);
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
