import { idList } from '@reelgate/platform/sql/multi-row';
import { buildStagedEvent } from '@reelgate/platform/bus/outbox';
import type { Sql, SqlStatement, SqlValue, SqlWork } from '@reelgate/platform/sql/sql';
import type { Task } from '../../domain/task.ts';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import { optionalNumber, optionalText, selectNumber, selectTexts, toJson } from '../columns.ts';
import { ADMITTED, TASK, UNFINISHED } from './task-rows.ts';
import { COUNTED_COLUMNS, leaveCounters } from './sql-in-flight.ts';
import type { CountedRow } from './sql-in-flight.ts';
import { resolveAttention } from './sql-attention.ts';
import type { AttentionWrites } from './sql-attention.ts';
import type { WriteNote } from './sql-history.ts';
import type { WriteEvent } from '../webhooks/sql-events.ts';
import { AHEAD_MS, SETTLED_MAX } from '../task-store.ts';
import type { Finish, PhaseTimes } from '../finish.ts';
import type {
  DueTimeStore,
  EndedTaskStore,
  FinishStore,
  MoveStore,
  Progress,
  ProgressStore,
  TaskLeaseStore,
} from '../task-store.ts';

/** Makes the event of a finished task for other services. */
export type ToFinishedEvent = (task: Task, finish: Finish) => { readonly type: string; readonly payload: string };

const ENDED_BY_SERVICE = { resolution: 'ended', actor: 'service' };

interface FinishWrites extends AttentionWrites {
  readonly finishedEvent: ToFinishedEvent;
  readonly writeEvent: WriteEvent;
}

/** Ends a task within a transaction. */
export type FinishIn = (query: SqlWork, taskId: string, finish: Finish) => Promise<PhaseTimes | undefined>;

export function sqlMoves(sql: Sql, writes: FinishWrites): MoveStore & { readonly finishIn: FinishIn } {
  const finishIn = sqlFinishIn(writes);
  return {
    ...sqlLeases(sql),
    ...sqlDueTimes(sql),
    ...sqlProgress(sql, writes.note),
    ...sqlFinish(sql, finishIn),
    ...sqlAfterEnd(sql),
    finishIn,
  };
}

/** The time of a visible change: later than the one before it, even if the clock was set back. */
const later = (at: string): string => `CASE WHEN updated_at >= ${at} THEN updated_at + 1 ELSE ${at} END`;

/** True if the owner sees no difference. The owner sees the upstream's word only if the adapter does not know it. */
const buildUnchanged = (of: (name: 'state' | 'upstreamStatus' | 'unrecognised' | 'progress') => string): string =>
  `state = ${of('state')} AND unrecognised = ${of('unrecognised')} AND progress = ${of('progress')}
   AND (${of('unrecognised')} = 0 OR upstream_status = ${of('upstreamStatus')})`;

const PROGRESS = buildStatement<keyof Progress | 'doubtPolls' | 'taskId' | 'from'>(
  (of) => `UPDATE tasks SET state = ${of('state')}, upstream_status = ${of('upstreamStatus')},
    unrecognised = ${of('unrecognised')}, progress = ${of('progress')}, poll_errors = ${of('pollErrors')},
    next_poll_at = CASE WHEN next_poll_at = COALESCE(${of('wasDueAt')}, next_poll_at) THEN ${of('nextPollAt')}
      ELSE next_poll_at END,
    lease_until = NULL, owner = NULL,
    updated_at = CASE WHEN ${buildUnchanged(of)} THEN updated_at ELSE ${later(of('at'))} END,
    doubt = ${of('doubt')}, doubt_polls = ${of('doubtPolls')}, polls = polls + 1,
    poll_spans = COALESCE(${of('pollSpans')}, poll_spans), resumed = 0,
    working_at = CASE WHEN ${of('state')} = 'in_progress' THEN COALESCE(working_at, ${of('at')}) ELSE working_at END
  WHERE id = ${of('taskId')} AND state = ${of('from')} AND ${UNFINISHED} AND next_poll_at IS NOT NULL RETURNING id`,
);

function sqlProgress(sql: Sql, note: WriteNote): ProgressStore {
  return {
    progress: async (taskId, from, to, entry) => {
      const statement = PROGRESS({
        taskId,
        from,
        state: to.state,
        upstreamStatus: to.upstreamStatus ?? null,
        unrecognised: to.unrecognised ? 1 : 0,
        progress: to.progress,
        pollErrors: to.pollErrors,
        nextPollAt: to.nextPollAt,
        wasDueAt: to.wasDueAt ?? null,
        at: to.at,
        doubt: to.doubt?.reason ?? null,
        doubtPolls: to.doubt?.polls ?? 0,
        pollSpans: to.pollSpans ?? null,
      });
      // Most polls bring no change with an entry: they are one statement.
      if (entry === undefined) return (await sql.write(...statement)).length > 0;
      return sql.transaction(async (query) => {
        const rows = await query(...statement);
        if (rows.length > 0) query.atEnd(note.build(taskId, to.at, entry));
        return rows.length > 0;
      });
    },
  };
}

/** The upstream has the work of the last attempt of a task. */
const PHASE_COLUMNS =
  'working_at, (SELECT MAX(ended_at) FROM attempts WHERE attempts.task_id = tasks.id) AS accepted_at';

interface FinishedRow extends CountedRow {
  readonly working_at: SqlValue;
  readonly accepted_at: SqlValue;
  readonly webhook_url: SqlValue;
}

const FINISH = buildStatement<
  | 'taskId'
  | 'state'
  | 'at'
  | 'upstreamStatus'
  | 'progress'
  | 'result'
  | 'failure'
  | 'usage'
  | 'upstreamCost'
  | 'expiresAt'
  | 'onlyIfUnknown'
>(
  (of) => `UPDATE tasks SET state = ${of('state')},
      upstream_status = COALESCE(${of('upstreamStatus')}, upstream_status), unrecognised = 0,
      progress = ${of('progress')}, result_json = ${of('result')}, failure_json = ${of('failure')},
      usage_json = ${of('usage')}, upstream_cost_micro_usd = ${of('upstreamCost')},
      expires_at = ${of('expiresAt')}, finished_at = ${of('at')}, settle_at = ${of('at')},
      updated_at = ${later(of('at'))}, next_poll_at = NULL, lease_until = NULL, owner = NULL, admission = 'accepted'
    WHERE id = ${of('taskId')} AND ${UNFINISHED} AND ${ADMITTED}
      AND (${of('onlyIfUnknown')} = 0 OR admission = 'unknown')
    RETURNING ${TASK.list}, ${COUNTED_COLUMNS}, ${PHASE_COLUMNS}, webhook_url`,
);

const IS_WAITING = 'SELECT task_id FROM attention WHERE task_id = $1 AND resolved_at IS NULL';

/** Takes an end back if its decision did not wait any more. */
class NotWaiting extends Error {}

function sqlFinishIn(writes: FinishWrites): FinishIn {
  const { note, finishedEvent, writeEvent } = writes;
  return async (query, taskId, finish) => {
    const [[row], waiting] = await Promise.all([
      query<FinishedRow>(...buildFinish(taskId, finish)),
      query(IS_WAITING, [taskId]),
    ]);
    if (row === undefined) return undefined;
    const task = TASK.read(row);
    const entry = note.build(taskId, finish.at, {
      type: finish.state,
      detail: { ...finish.failure, upstream: finish.upstreamFailure, usage: finish.usage, fetch_ms: finish.fetchMs },
    });
    const decision = { ...(finish.decision ?? ENDED_BY_SERVICE), at: finish.at };
    // nearly no task waits for a person
    const hasWaited = waiting.length > 0 && (await resolveAttention(query, writes, taskId, decision));
    if (finish.decision !== undefined && !hasWaited) throw new NotWaiting();
    query.atEnd(
      buildStagedEvent({ id: taskId, ...finishedEvent(task, finish), carrier: finish.trace }, finish.at),
      writeEvent.build({
        accountId: task.accountId,
        type: `video.${finish.state}`,
        subjectId: taskId,
        createdAt: finish.at,
        url: optionalText(row.webhook_url),
        origin: { requestId: task.requestId, trace: task.trace, createdAt: task.createdAt },
      }),
      entry,
    );
    leaveCounters(query, taskId, row);
    return {
      acceptedAt: optionalNumber(row.accepted_at),
      workingAt: optionalNumber(row.working_at),
      ...(hasWaited ? { hasWaited } : {}),
    };
  };
}

function buildFinish(taskId: string, finish: Finish): SqlStatement {
  return FINISH({
    taskId,
    state: finish.state,
    at: finish.at,
    upstreamStatus: finish.upstreamStatus ?? null,
    progress: finish.state === 'completed' ? 100 : 0,
    result: toJson(finish.result),
    failure: toJson(finish.failure),
    usage: toJson(finish.usage),
    upstreamCost: finish.upstreamCostMicroUsd ?? null,
    expiresAt: finish.expiresAt ?? null,
    onlyIfUnknown: finish.onlyIfUnknown === true ? 1 : 0,
  });
}

function sqlFinish(sql: Sql, finishIn: FinishIn): FinishStore {
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

function sqlAfterEnd(sql: Sql): EndedTaskStore {
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
  };
}

/** The leases of tasks: the process that polls a task. */
function sqlLeases(sql: Sql): TaskLeaseStore {
  const claimDue = buildStatement<'channel' | 'now' | 'leaseUntil' | 'limit' | 'owner'>(
    (of) => `UPDATE tasks SET lease_until = ${of('leaseUntil')}, owner = ${of('owner')} WHERE id IN (
        SELECT id FROM tasks WHERE channel = ${of('channel')} AND next_poll_at IS NOT NULL
          AND next_poll_at <= ${of('now')} AND (lease_until IS NULL OR lease_until <= ${of('now')})
        ORDER BY next_poll_at LIMIT ${of('limit')} ${sql.skipLocked}
      ) RETURNING ${TASK.list}`,
  );
  return {
    claimDue: async (channel, { now, leaseUntil, limit, owner }) =>
      (await sql.write(...claimDue({ channel, now, leaseUntil, limit, owner }))).map(TASK.read),
    findNextDue: (channel, now) =>
      selectNumber(
        sql.read,
        'next_poll_at',
        `tasks WHERE channel = $1 AND next_poll_at IS NOT NULL AND (lease_until IS NULL OR lease_until <= $2)
         ORDER BY next_poll_at LIMIT 1`,
        [channel, now],
      ),
    dropLeases: async (owner) => {
      await sql.write(
        'UPDATE tasks SET lease_until = NULL, owner = NULL, resumed = 1 WHERE owner = $1 AND lease_until IS NOT NULL',
        [owner],
      );
    },

    listLeasedIds: (channel, owner) =>
      selectTexts(
        sql.read,
        'id',
        'tasks WHERE channel = $1 AND next_poll_at IS NOT NULL AND owner = $2 AND lease_until IS NOT NULL',
        [channel, owner],
      ),
    dropLease: async (taskId, owner) => {
      await sql.write(
        'UPDATE tasks SET lease_until = NULL, owner = NULL WHERE id = $1 AND owner = $2 AND lease_until IS NOT NULL',
        [taskId, owner],
      );
    },
  };
}

/** The due times of tasks: the time at which a task is polled. */
function sqlDueTimes(sql: Sql): DueTimeStore {
  return {
    pullIn: async (channel, { beyond, to, limit }) =>
      (
        await sql.write(
          `UPDATE tasks SET next_poll_at = $1 WHERE id IN (
         SELECT id FROM tasks WHERE channel = $2 AND next_poll_at IS NOT NULL AND next_poll_at > $3
         LIMIT $4 ${sql.skipLocked}
       ) RETURNING id`,
          [to, channel, beyond, limit],
        )
      ).length,

    makeDue: async (taskId, at) => {
      await sql.write(
        `UPDATE tasks SET next_poll_at = $1, lease_until = NULL
         WHERE id = $2 AND next_poll_at IS NOT NULL AND next_poll_at > $1 AND ${UNFINISHED}`,
        [at, taskId],
      );
    },
    // During a poll the due time moves by a millisecond and stays in the past. `progress` sees that it has changed.
    pollSoon: async (taskId, at) =>
      (
        await sql.write(
          `UPDATE tasks SET next_poll_at = CASE WHEN lease_until > $1 THEN next_poll_at + 1 ELSE $2 END
       WHERE id = $3 AND next_poll_at IS NOT NULL AND ${UNFINISHED}
         AND ((lease_until > $1 AND next_poll_at <= $1)
           OR ((lease_until IS NULL OR lease_until <= $1) AND next_poll_at > $2)) RETURNING id`,
          [at, at - AHEAD_MS, taskId],
        )
      ).length > 0,
  };
}
