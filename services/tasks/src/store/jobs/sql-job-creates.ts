import type { Sql, SqlQuery, SqlRow } from '@reelgate/platform/sql/sql';
import { whileAwaited } from '@reelgate/platform/sql/while-awaited';
import { jobScopes } from '../../domain/in-flight-scope.ts';
import type { JobStore, NewJob } from '../job-store.ts';
import type { Begun } from '../task-store.ts';
import { text, toJson } from '../tasks/task-rows.ts';
import { RolledBack, takeCaps, takeKey } from '../tasks/sql-admission.ts';
import { raiseIn } from '../tasks/sql-attention.ts';
import { countDown } from '../tasks/sql-in-flight.ts';
import type { WriteNote } from '../tasks/sql-notes.ts';
import { UNFINISHED_JOB, objectOf } from './job-rows.ts';

/** The beginning and the end of a job. */
export function sqlJobCreates(sql: Sql, note: WriteNote): Pick<JobStore, 'beginJob' | 'withdrawJob' | 'finishJob'> {
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
        if (error instanceof RolledBack) return error.outcome;
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
          `UPDATE jobs SET state = $1, answer_json = $2, answer_object = $3, failure_json = $4, finished_at = $5,
           updated_at = $5, due_at = NULL, lease = NULL, lease_until = NULL
         WHERE id = $6 AND lease = $7 AND ${UNFINISHED_JOB} RETURNING token_id`,
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
    `INSERT INTO jobs (id, account_id, token_id, models_json, request_id, endpoint, model, repeatable, state,
       due_at, lease, lease_until, worker, body_object, created_at, updated_at)
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

/** Takes an ended job out of its counters and removes its call. */
async function afterEnd(query: SqlQuery, jobId: string, row: SqlRow): Promise<void> {
  await query('DELETE FROM job_calls WHERE job_id = $1', [jobId]);
  for (const scope of jobScopes(text(row['token_id']))) await countDown(query, scope);
}
