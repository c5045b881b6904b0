import type { Sql } from '@reelgate/platform/sql/sql';
import type { JobRetentionStore } from '../job-store.ts';
import { optionalText, placeholders, text } from '../tasks/task-rows.ts';

/** The owner may still repeat the call with its key, or a person must still decide. */
const NEEDED = `EXISTS (SELECT 1 FROM idempotency_keys WHERE idempotency_keys.task_id = jobs.id AND expires_at > $2)
  OR EXISTS (SELECT 1 FROM attention WHERE attention.task_id = jobs.id AND resolved_at IS NULL)`;

export function sqlJobRetention(sql: Sql): JobRetentionStore {
  return {
    spentBodies: async (limit) =>
      (
        await sql.read(
          `SELECT id, body_object FROM jobs
           WHERE finished_at IS NOT NULL AND body_object IS NOT NULL ORDER BY finished_at LIMIT $1`,
          [limit],
        )
      ).map((row) => ({ jobId: text(row['id']), object: text(row['body_object']) })),
    forgetBodies: async (jobIds) => {
      if (jobIds.length > 0)
        await sql.write(
          `UPDATE jobs SET body_object = NULL
           WHERE finished_at IS NOT NULL AND id IN (${placeholders(jobIds.length, 1)})`,
          jobIds,
        );
    },
    oldJobs: async ({ before, now, limit }) =>
      (
        await sql.read(
          `SELECT id, body_object, answer_object FROM jobs
           WHERE finished_at IS NOT NULL AND finished_at < $1 AND NOT (${NEEDED}) ORDER BY finished_at LIMIT $3`,
          [before, now, limit],
        )
      ).map((row) => ({
        jobId: text(row['id']),
        objects: [row['body_object'], row['answer_object']].flatMap((object) => optionalText(object) ?? []),
      })),
    removeJobs: async (jobIds) => {
      if (jobIds.length === 0) return;
      const among = placeholders(jobIds.length, 1);
      await sql.transaction(async (query) => {
        for (const table of ['task_events', 'attention', 'idempotency_keys'])
          await query(`DELETE FROM ${table} WHERE task_id IN (${among})`, jobIds);
        await query(`DELETE FROM jobs WHERE id IN (${among})`, jobIds);
      });
    },
  };
}
