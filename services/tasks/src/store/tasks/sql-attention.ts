import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { AttentionItemSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { isTerminal } from '../../domain/task.ts';
import type { State } from '../../domain/task.ts';
import type { WriteAct } from '../operators/sql-acts.ts';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import { countFrom, inNumber, inText, recordColumns, text, toInsert } from '../columns.ts';
import type { WriteNote } from './sql-history.ts';
import type { AttentionStore, NewAttention } from '../task-store.ts';

const STATES = deriveValues(TaskState);
const OPEN_MAX = 1000;

const OPEN = `SELECT waiting.task_id, waiting.reason, waiting.detail, waiting.since, jobs.id AS job_id,
    COALESCE(tasks.account_id, jobs.account_id) AS account_id, COALESCE(tasks.model, jobs.model) AS model,
    COALESCE(tasks.state, jobs.state) AS state,
    COALESCE(tasks.channel, (SELECT attempts.channel FROM attempts
      WHERE attempts.task_id = waiting.task_id ORDER BY attempts.number DESC LIMIT 1)) AS channel
  FROM (SELECT task_id, reason, detail, since FROM attention
    WHERE resolved_at IS NULL ORDER BY since, task_id LIMIT $1) AS waiting
  LEFT JOIN tasks ON tasks.id = waiting.task_id LEFT JOIN jobs ON jobs.id = waiting.task_id
  ORDER BY waiting.since, waiting.task_id`;

export function sqlAttention(sql: Sql, note: WriteNote, writeAct: WriteAct): AttentionStore {
  return {
    raise: (item) =>
      sql.transaction(async (query) => {
        if (item.reason !== OVERRUN && (await hasEnded(query, sql, item.taskId))) return false;
        return raiseIn(query, note, item);
      }),
    isWaiting: async (taskId) =>
      (await countFrom(sql.read, 'attention WHERE task_id = $1 AND resolved_at IS NULL', [taskId])) > 0,
    resolve: (taskId, by) => sql.transaction((query) => resolveAttention(query, { note, writeAct }, taskId, by)),
    listOpenAttention: async () =>
      (await sql.read(OPEN, [OPEN_MAX])).map((row) =>
        toMessage(AttentionItemSchema, {
          taskId: text(row['task_id']),
          reason: text(row['reason']),
          detail: text(row['detail']),
          since: timestampFromMs(Number(row['since'])),
          accountId: text(row['account_id']),
          model: text(row['model']),
          channel: text(row['channel']),
          state: STATES[text(row['state']) as State],
          isJob: row['job_id'] !== null,
        }),
      ),
  };
}

const ITEM = recordColumns<NewAttention>({
  taskId: inText('task_id'),
  reason: inText('reason'),
  detail: inText('detail'),
  since: inNumber('since'),
});
/** The one question about a task that has ended. A decision over it moves the money, so it is never asked twice. */
const OVERRUN = 'overrun';
const UNLESS_OPEN = `ON CONFLICT (task_id) DO UPDATE SET reason = excluded.reason, detail = excluded.detail,
    since = excluded.since, resolved_at = NULL, resolution = NULL, actor = NULL
  WHERE attention.resolved_at IS NOT NULL AND NOT (attention.reason = '${OVERRUN}' AND excluded.reason = '${OVERRUN}')
  RETURNING task_id`;

/**
 * Reports whether a task has ended. It cannot end until the end of the transaction, so that a poll with an answer after
 * a decision asks for no second one.
 */
async function hasEnded(query: SqlQuery, { forUpdate }: Sql, taskId: string): Promise<boolean> {
  const [task] = await query(`SELECT state FROM tasks WHERE id = $1 ${forUpdate}`, [taskId]);
  return task !== undefined && isTerminal(text(task['state']) as State);
}

/** Asks a person to decide, within a transaction. Returns whether the task did not wait yet. */
export async function raiseIn(query: SqlQuery, note: WriteNote, item: NewAttention): Promise<boolean> {
  const raised = await query(...toInsert('attention', ITEM.write(item), UNLESS_OPEN));
  const { taskId, reason, detail, since } = item;
  if (raised.length > 0) await note(query, taskId, since, { type: 'attention', detail: { reason, detail } });
  return raised.length > 0;
}

export interface AttentionWrites {
  readonly note: WriteNote;
  readonly writeAct: WriteAct;
}

const RESOLVE = buildStatement<'taskId' | 'at' | 'resolution' | 'actor' | 'reason'>(
  (of) => `UPDATE attention SET resolved_at = ${of('at')}, resolution = ${of('resolution')}, actor = ${of('actor')}
    WHERE task_id = ${of('taskId')} AND resolved_at IS NULL AND reason = COALESCE(${of('reason')}, reason)
    RETURNING task_id`,
);

/**
 * Ends the wait for a person, within a transaction, with the act of the person who decided. Returns whether the task
 * waited.
 */
export async function resolveAttention(
  query: SqlQuery,
  { note, writeAct }: AttentionWrites,
  taskId: string,
  { resolution, actor, at, reason, why }: Parameters<AttentionStore['resolve']>[1],
): Promise<boolean> {
  const rows = await query(...RESOLVE({ taskId, at, resolution, actor, reason: reason ?? null }));
  if (rows.length === 0) return false;
  const detail = { resolution, actor, ...(why === undefined || why === '' ? {} : { reason: why }) };
  await note(query, taskId, at, { type: 'attention_resolved', detail });
  const act = { at, actor, action: 'attention_resolved', subject: taskId, detail: { resolution } } as const;
  if (why !== undefined) await writeAct(query, { ...act, reason: why });
  return true;
}
