import type { NewId } from '@reelgate/platform/ids';
import type { Sql, SqlQuery, SqlRow } from '@reelgate/platform/sql/sql';
import { whileAwaited } from '@reelgate/platform/sql/while-awaited';
import { jobScopes } from '../../domain/in-flight-scope.ts';
import { JOB_COLUMNS, fromCallJson, fromJobRow, objectOf } from './job-rows.ts';
import type { JobRetentionStore, JobStore, NewJob } from '../job-store.ts';
import { placeholders, searchable, text, toJson } from '../tasks/task-rows.ts';
import type { Begun } from '../task-store.ts';
import { Undone, takeCaps, takeKey } from '../tasks/sql-admission.ts';
import { raiseIn } from '../tasks/sql-attention.ts';
import { countDown } from '../tasks/sql-in-flight.ts';
import { sqlJobRetention } from './sql-job-retention.ts';
import { sqlNotes } from '../tasks/sql-notes.ts';
import type { WriteNote } from '../tasks/sql-notes.ts';

const UNFINISHED = 'finished_at IS NULL';

/** So many times the jobs that are wanted are looked at, because others may be taking the first of them at the same moment. */
const CANDIDATES = 8;
const LOOKED_AT = 2000;

/**
 * Who goes next: each token in turn, counting what it already has running, and within a token the one that has waited longest. Those who
 * are looked at have waited longest of all: as many as twenty tokens have at the most where nothing else is configured.
 */
const IN_TURN = `
  WITH running AS (SELECT token_id, COUNT(*) AS held FROM jobs WHERE lease_until IS NOT NULL GROUP BY token_id),
  longest AS (SELECT id, token_id, due_at FROM jobs WHERE due_at IS NOT NULL AND due_at <= $4 ORDER BY due_at LIMIT ${String(LOOKED_AT)}),
  due AS (SELECT id, token_id, due_at, ROW_NUMBER() OVER (PARTITION BY token_id ORDER BY due_at, id) AS place FROM longest),
  fair AS (
    SELECT due.id, due.due_at, due.place + COALESCE(running.held, 0) AS turn
    FROM due LEFT JOIN running ON running.token_id = due.token_id ORDER BY turn, due.due_at LIMIT $6
  )
  SELECT jobs.id FROM fair JOIN jobs ON jobs.id = fair.id WHERE jobs.due_at IS NOT NULL ORDER BY fair.turn, fair.due_at LIMIT $5`;

export function sqlJobs(sql: Sql, newId: NewId): JobStore & JobRetentionStore {
  const note = sqlNotes(newId);
  return { ...sqlJobCreates(sql, note), ...sqlJobLeases(sql, note), ...sqlJobReads(sql), ...sqlJobRetention(sql) };
}

function sqlJobCreates(sql: Sql, note: WriteNote): Pick<JobStore, 'beginJob' | 'withdrawJob' | 'finishJob'> {
  return {
    beginJob: async (job, signal) => {
      try {
        return await sql.transaction((query) =>
          whileAwaited<Begun>(signal, async () => {
            if (job.idempotency !== undefined) await takeKey(query, job, job.idempotency);
            await takeCaps(query, job.caps);
            await insertJob(query, job);
            await note(query, job.id, job.createdAt, { type: 'created' });
            return 'begun';
          }),
        );
      } catch (error) {
        if (error instanceof Undone) return error.outcome;
        throw error;
      }
    },
    withdrawJob: ({ jobId, lease }) =>
      sql.transaction(async (query) => {
        const [row] = await query('DELETE FROM jobs WHERE id = $1 AND lease = $2 AND starts = 0 RETURNING token_id', [
          jobId,
          lease,
        ]);
        if (row === undefined) return false;
        await afterEnd(query, jobId, row);
        for (const table of ['idempotency_keys', 'task_events'])
          await query(`DELETE FROM ${table} WHERE task_id = $1`, [jobId]);
        return true;
      }),
    finishJob: ({ jobId, lease }, finished) =>
      sql.transaction(async (query) => {
        const [row] = await query(
          `UPDATE jobs SET state = $1, answer_json = $2, answer_object = $3, failure_json = $4, finished_at = $5, updated_at = $5, due_at = NULL, lease = NULL, lease_until = NULL
         WHERE id = $6 AND lease = $7 AND ${UNFINISHED} RETURNING token_id`,
          [
            finished.state,
            toJson(finished.answer),
            objectOf(finished.answer?.body),
            toJson(finished.failure),
            finished.at,
            jobId,
            lease,
          ],
        );
        if (row === undefined) return false;
        await afterEnd(query, jobId, row);
        if (finished.attention !== undefined)
          await raiseIn(query, note, { taskId: jobId, since: finished.at, ...finished.attention });
        await note(query, jobId, finished.at, {
          type: finished.state,
          detail: { ...finished.failure, status: finished.answer?.statusCode },
        });
        return true;
      }),
  };
}

async function insertJob(query: SqlQuery, { call, lease, ...job }: NewJob): Promise<void> {
  await query(
    `INSERT INTO jobs (id, account_id, token_id, models_json, request_id, endpoint, model, repeatable, state, due_at, lease, lease_until, worker, body_object, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', $9, $10, $11, $12, $13, $14, $14)`,
    [
      job.id,
      job.accountId,
      job.tokenId,
      JSON.stringify(job.visibleModels),
      job.requestId,
      call.endpoint,
      call.model,
      job.repeatable ? 1 : 0,
      lease === undefined ? job.createdAt : null,
      lease?.name ?? null,
      lease?.until ?? null,
      lease?.worker ?? null,
      objectOf(call.body),
      job.createdAt,
    ],
  );
  await query('INSERT INTO job_calls (job_id, call_json) VALUES ($1, $2)', [job.id, JSON.stringify(call)]);
}

/** It is counted no more, and what was asked is not needed any more. */
async function afterEnd(query: SqlQuery, jobId: string, row: SqlRow): Promise<void> {
  await query('DELETE FROM job_calls WHERE job_id = $1', [jobId]);
  for (const scope of jobScopes(text(row['token_id']))) await countDown(query, scope);
}

function sqlJobLeases(
  sql: Sql,
  note: WriteNote,
): Pick<JobStore, 'leaseJobs' | 'renewLeases' | 'startJob' | 'requeueJob' | 'lostJobs'> {
  return {
    leaseJobs: ({ worker, lease, now, until, limit }) =>
      sql.transaction(async (query) => {
        const rows = await query(
          `UPDATE jobs SET lease = $1, lease_until = $2, worker = $3, due_at = NULL WHERE id IN (${IN_TURN} ${sql.skipLocked})
         AND due_at IS NOT NULL RETURNING ${JOB_COLUMNS}`,
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
      // A lease is never given twice, so an id and a lease that are both among these belong together.
      const kept = await sql.write(
        `UPDATE jobs SET lease_until = $1 WHERE lease_until > $2 AND id IN (${placeholders(ids.length, 3)}) AND lease IN (${placeholders(names.length, 3 + ids.length)}) RETURNING id`,
        [until, now, ...ids, ...names],
      );
      return new Set(kept.map((row) => text(row['id'])));
    },
    startJob: ({ jobId, lease }, at) =>
      sql.transaction(async (query) => {
        const started = await query(
          `UPDATE jobs SET state = 'in_progress', starts = starts + 1, updated_at = $1 WHERE id = $2 AND lease = $3 AND lease_until > $1 AND state = 'queued' RETURNING worker`,
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
         WHERE id = $3 AND lease = $4 AND starts = $5 AND ${UNFINISHED} RETURNING id`,
          [dueAt, at, jobId, lease, starts],
        );
        if (back.length > 0) await note(query, jobId, at, { type: 'returned', detail: { why } });
        return back.length > 0;
      }),
    lostJobs: async (now, limit) =>
      (
        await sql.read(
          `SELECT ${JOB_COLUMNS} FROM jobs WHERE lease_until IS NOT NULL AND lease_until <= $1 ORDER BY lease_until LIMIT $2`,
          [now, limit],
        )
      ).map((row) => ({ job: fromJobRow(row), lease: { jobId: text(row['id']), lease: text(row['lease']) } })),
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
          `SELECT ${JOB_COLUMNS} FROM jobs WHERE ($1 = '' OR account_id = $1) AND ($2 = '' OR state = $2) AND ($3 = '' OR id < $3) ORDER BY id DESC LIMIT $4`,
          [searchable(accountId ?? ''), state ?? '', after ?? '', limit],
        )
      ).map(fromJobRow),
    pendingJobs: async () =>
      (
        await sql.read(
          `SELECT state, COUNT(*) AS count, MIN(created_at) AS oldest_at FROM jobs WHERE ${UNFINISHED} GROUP BY state`,
        )
      ).map((row) => ({ state: text(row['state']), count: Number(row['count']), oldestAt: Number(row['oldest_at']) })),
  };
}
