import type { Sql } from '@reelgate/platform/sql/sql';
import { placeholders, text } from './task-rows.ts';
import type { RetentionStore } from '../task-store.ts';

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
        const rows = await query(
          `SELECT id FROM tasks
           WHERE settled_at IS NOT NULL AND finished_at < $1 AND NOT (${NEEDED})
           ORDER BY finished_at LIMIT $3 ${sql.skipLocked}`,
          [before, now, limit],
        );
        if (rows.length === 0) return 0;
        const ids = rows.map((row) => text(row['id']));
        const among = placeholders(ids.length, 1);
        for (const table of ['attempts', 'task_events', 'attention', 'idempotency_keys'])
          await query(`DELETE FROM ${table} WHERE task_id IN (${among})`, ids);
        await query(`DELETE FROM tasks WHERE id IN (${among})`, ids);
        return ids.length;
      }),
    removeKeys: async (now, limit) =>
      (
        await sql.write(
          `DELETE FROM idempotency_keys WHERE (account_id, key) IN (
             SELECT account_id, key FROM idempotency_keys
             WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 ${sql.skipLocked}
           ) RETURNING key`,
          [now, limit],
        )
      ).length,
  };
}
