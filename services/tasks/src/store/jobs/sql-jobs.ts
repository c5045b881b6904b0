import type { NewId } from '@reelgate/platform/ids';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { JobRetentionStore, JobStore } from '../job-store.ts';
import { sqlNotes } from '../tasks/sql-notes.ts';
import { shardsOn, sqlPermits } from '../tasks/sql-permits.ts';
import { searchable, text } from '../tasks/task-rows.ts';
import { sqlEventWrites } from '../webhooks/sql-event-writes.ts';
import { JOB_COLUMNS, UNFINISHED_JOB, fromJobRow } from './job-rows.ts';
import { sqlJobCreates } from './sql-job-creates.ts';
import { sqlJobLeases } from './sql-job-leases.ts';
import { sqlJobRetention } from './sql-job-retention.ts';

export function sqlJobs(sql: Sql, newId: NewId, shardsMax = shardsOn(sql)): JobStore & JobRetentionStore {
  const note = sqlNotes(newId);
  return {
    ...sqlJobCreates(sql, { note, writeEvent: sqlEventWrites(newId) }, sqlPermits(sql, shardsMax)),
    ...sqlJobLeases(sql, note),
    ...sqlJobReads(sql),
    ...sqlJobRetention(sql),
  };
}

function sqlJobReads(sql: Sql): Pick<JobStore, 'findJob' | 'listJobs' | 'pendingJobs'> {
  return {
    findJob: async (jobId) => {
      const [row] = await sql.read(`SELECT ${JOB_COLUMNS} FROM jobs WHERE id = $1`, [searchable(jobId)]);
      return row === undefined ? undefined : fromJobRow(row);
    },
    listJobs: async ({ accountId, state }, { limit, after }) =>
      (
        await sql.read(
          `SELECT ${JOB_COLUMNS} FROM jobs
           WHERE ($1 = '' OR account_id = $1) AND ($2 = '' OR state = $2) AND ($3 = '' OR id < $3)
           ORDER BY id DESC LIMIT $4`,
          [searchable(accountId ?? ''), state ?? '', after ?? '', limit],
        )
      ).map(fromJobRow),
    pendingJobs: async () =>
      (
        await sql.read(
          `SELECT state, COUNT(*) AS count, MIN(created_at) AS oldest_at
           FROM jobs WHERE ${UNFINISHED_JOB} GROUP BY state`,
        )
      ).map((row) => ({ state: text(row['state']), count: Number(row['count']), oldestAt: Number(row['oldest_at']) })),
  };
}
