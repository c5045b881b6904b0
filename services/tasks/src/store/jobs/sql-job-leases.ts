import type { Sql } from '@reelgate/platform/sql/sql';
import type { JobStore } from '../job-store.ts';
import type { WriteNote } from '../tasks/sql-notes.ts';
import { placeholders, text } from '../tasks/task-rows.ts';
import { JOB_COLUMNS, UNFINISHED_JOB, fromCallJson, fromJobRow } from './job-rows.ts';

/** Candidates for each wanted job, because other workers may take the first ones at the same moment. */
const CANDIDATES = 8;
/** Due jobs that a lease considers. Twenty tokens at their default limit have this many. */
const CONSIDERED_MAX = 2000;

/**
 * The next jobs: one of each token after the other, counting the running jobs of the token, and for a token the job
 * that has waited longest. Only the jobs that have waited longest of all are considered.
 */
const NEXT_JOBS = `
  WITH running AS (SELECT token_id, COUNT(*) AS held FROM jobs WHERE lease_until IS NOT NULL GROUP BY token_id),
  longest AS (
    SELECT id, token_id, due_at FROM jobs
    WHERE due_at IS NOT NULL AND due_at <= $4 ORDER BY due_at LIMIT ${CONSIDERED_MAX}
  ),
  due AS (
    SELECT id, token_id, due_at, ROW_NUMBER() OVER (PARTITION BY token_id ORDER BY due_at, id) AS ordinal FROM longest
  ),
  fair AS (
    SELECT due.id, due.due_at, due.ordinal + COALESCE(running.held, 0) AS fair_rank
    FROM due LEFT JOIN running ON running.token_id = due.token_id ORDER BY fair_rank, due.due_at LIMIT $6
  )
  SELECT jobs.id FROM fair JOIN jobs ON jobs.id = fair.id
  WHERE jobs.due_at IS NOT NULL ORDER BY fair.fair_rank, fair.due_at LIMIT $5`;

type Leases = Pick<JobStore, 'leaseJobs' | 'renewLeases' | 'endLeases' | 'startJob' | 'requeueJob' | 'lostJobs'>;

/** The leases of jobs: the worker that has a job, and the end of its lease. */
export function sqlJobLeases(sql: Sql, note: WriteNote): Leases {
  return { ...sqlLeasing(sql), ...sqlLeasedMoves(sql, note) };
}

function sqlLeasing(sql: Sql): Pick<Leases, 'leaseJobs' | 'renewLeases' | 'endLeases' | 'lostJobs'> {
  return {
    leaseJobs: ({ worker, lease, now, until, limit }) =>
      sql.transaction(async (query) => {
        const rows = await query(
          `UPDATE jobs SET lease = $1, lease_until = $2, worker = $3, due_at = NULL
         WHERE id IN (${NEXT_JOBS} ${sql.skipLocked}) AND due_at IS NOT NULL RETURNING ${JOB_COLUMNS}`,
          [lease, until, worker, now, limit, limit * CANDIDATES],
        );
        if (rows.length === 0) return [];
        const jobs = rows.map(fromJobRow).toSorted((one, other) => one.createdAt - other.createdAt);
        const calls = await query(
          `SELECT job_id, call_json FROM job_calls WHERE job_id IN (${placeholders(jobs.length, 1)})`,
          jobs.map(({ id }) => id),
        );
        const byId = new Map(calls.map((row) => [text(row['job_id']), fromCallJson(row['call_json'])]));
        return jobs.flatMap((job) => {
          const call = byId.get(job.id);
          return call === undefined ? [] : [{ job, call }];
        });
      }),
    renewLeases: async (leases, now, until) => {
      if (leases.length === 0) return new Set();
      const ids = leases.map(({ jobId }) => jobId);
      const names = [...new Set(leases.map(({ lease }) => lease))];
      // The name of a lease is never used twice, so an id and a name that meet on one row belong together.
      const kept = await sql.write(
        `UPDATE jobs SET lease_until = $1
         WHERE lease_until > $2 AND id IN (${placeholders(ids.length, 3)})
           AND lease IN (${placeholders(names.length, 3 + ids.length)}) RETURNING id`,
        [until, now, ...ids, ...names],
      );
      return new Set(kept.map((row) => text(row['id'])));
    },
    endLeases: (now) =>
      sql.transaction((query) => query.changes('UPDATE jobs SET lease_until = $1 WHERE lease_until > $1', [now])),
    lostJobs: async (now, limit) =>
      (
        await sql.read(
          `SELECT ${JOB_COLUMNS} FROM jobs
           WHERE lease_until IS NOT NULL AND lease_until <= $1 ORDER BY lease_until LIMIT $2`,
          [now, limit],
        )
      ).map((row) => ({ job: fromJobRow(row), lease: { jobId: text(row['id']), lease: text(row['lease']) } })),
  };
}

function sqlLeasedMoves(sql: Sql, note: WriteNote): Pick<Leases, 'startJob' | 'requeueJob'> {
  return {
    startJob: ({ jobId, lease }, at) =>
      sql.transaction(async (query) => {
        const started = await query(
          `UPDATE jobs SET state = 'in_progress', starts = starts + 1, updated_at = $1
           WHERE id = $2 AND lease = $3 AND lease_until > $1 AND state = 'queued' RETURNING worker`,
          [at, jobId, lease],
        );
        if (started.length > 0)
          await note(query, jobId, at, { type: 'started', detail: { worker: started[0]?.['worker'] } });
        return started.length > 0;
      }),
    requeueJob: ({ jobId, lease }, { starts, at, dueAt, why }) =>
      sql.transaction(async (query) => {
        const back = await query(
          `UPDATE jobs SET state = 'queued', due_at = $1, lease = NULL, lease_until = NULL, updated_at = $2
         WHERE id = $3 AND lease = $4 AND starts = $5 AND ${UNFINISHED_JOB} RETURNING id`,
          [dueAt, at, jobId, lease, starts],
        );
        if (back.length > 0) await note(query, jobId, at, { type: 'returned', detail: { why } });
        return back.length > 0;
      }),
  };
}
