import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { text } from './task-rows.ts';
import type { WriteNote } from './sql-notes.ts';
import type { AttentionItem, AttentionStore } from '../task-store.ts';

const OPEN_MAX = 1000;

export function sqlAttention(sql: Sql, note: WriteNote): AttentionStore {
  return {
    raise: (item) => sql.transaction((query) => raiseIn(query, note, item)),
    waits: async (taskId) =>
      (await sql.read('SELECT task_id FROM attention WHERE task_id = $1 AND resolved_at IS NULL', [taskId])).length > 0,
    resolve: (taskId, by) => sql.transaction((query) => resolveAttention(query, note, taskId, by)),
    open: async () =>
      (
        await sql.read(
          `SELECT task_id, reason, detail, since FROM attention
           WHERE resolved_at IS NULL ORDER BY since, task_id LIMIT $1`,
          [OPEN_MAX],
        )
      ).map((row) => ({
        taskId: text(row['task_id']),
        reason: text(row['reason']),
        detail: text(row['detail']),
        since: Number(row['since']),
      })),
  };
}

/** Asks a person to decide, within a transaction. Returns whether the task did not wait yet. */
export async function raiseIn(
  query: SqlQuery,
  note: WriteNote,
  { taskId, reason, detail, since }: AttentionItem,
): Promise<boolean> {
  const raised = await query(
    `INSERT INTO attention (task_id, reason, detail, since) VALUES ($1, $2, $3, $4)
     ON CONFLICT (task_id) DO UPDATE SET reason = $2, detail = $3, since = $4,
       resolved_at = NULL, resolution = NULL, actor = NULL
     WHERE attention.resolved_at IS NOT NULL RETURNING task_id`,
    [taskId, reason, detail, since],
  );
  if (raised.length > 0) await note(query, taskId, since, { type: 'attention', detail: { reason, detail } });
  return raised.length > 0;
}

/** Ends the wait for a person, within a transaction. Returns whether the task waited. */
export async function resolveAttention(
  query: SqlQuery,
  note: WriteNote,
  taskId: string,
  { resolution, actor, at, reason }: Parameters<AttentionStore['resolve']>[1],
): Promise<boolean> {
  const rows = await query(
    `UPDATE attention SET resolved_at = $1, resolution = $2, actor = $3
     WHERE task_id = $4 AND resolved_at IS NULL AND reason = COALESCE($5, reason) RETURNING task_id`,
    [at, resolution, actor, taskId, reason ?? null],
  );
  if (rows.length > 0) await note(query, taskId, at, { type: 'attention_resolved', detail: { resolution, actor } });
  return rows.length > 0;
}
