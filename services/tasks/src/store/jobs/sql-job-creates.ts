import type { Sql, SqlQuery, SqlRow } from '@reelgate/platform/sql/sql';
import { JOBS_TOTAL_SCOPE, jobTokenScope } from '../../domain/in-flight-scope.ts';
import type { JobStore, NewJob } from '../job-store.ts';
import type { Permit } from '../tasks/counter-shards.ts';
import { optionalText, toJson } from '../tasks/task-rows.ts';
import { awaitBeginResult, takeKey } from '../tasks/sql-admission.ts';
import { raiseIn } from '../tasks/sql-attention.ts';
import { COUNTED_COLUMNS, countDown, toCountedValues, parseList, findCounterRows } from '../tasks/sql-in-flight.ts';
import type { CountedRow } from '../tasks/sql-in-flight.ts';
import type { WriteNote } from '../tasks/sql-notes.ts';
import type { WithPermits } from '../tasks/sql-permits.ts';
import type { WriteEvent } from '../webhooks/sql-event-writes.ts';
import { JOB_COLUMNS, UNFINISHED_JOB, fromJobRow, readObjectId } from './job-rows.ts';

/** The columns that the end of a job needs of its row. */
const ENDED_COLUMNS = `account_id, token_id, ${COUNTED_COLUMNS}, webhook_url, request_id, trace, created_at`;
type CountedJobRow = CountedRow & { readonly token_id: string };
type EndedRow = CountedJobRow & { readonly account_id: string } & Pick<
    SqlRow,
    'webhook_url' | 'request_id' | 'trace' | 'created_at'
  >;

interface EndWrites {
  readonly note: WriteNote;
  readonly writeEvent: WriteEvent;
}

/** The beginning and the end of a job. */
export function sqlJobCreates(
  sql: Sql,
  writes: EndWrites,
  withPermits: WithPermits,
): Pick<JobStore, 'beginJob' | 'withdrawJob' | 'finishJob'> {
  return {
    beginJob: ({ id, caps, ...rest }, signal) =>
      awaitBeginResult(
        withPermits({ id, caps, signal }, async (query, permits) => {
          const job = { id, ...rest };
          if (job.idempotency !== undefined) await takeKey(query, job, job.idempotency);
          await insertJob(query, job, permits);
          await writes.note(query, job.id, job.createdAt, { type: 'created' });
        }),
      ),
    withdrawJob: ({ jobId, lease }) =>
      sql.transaction(async (query) => {
        const [row] = await query<CountedJobRow>(
          `DELETE FROM jobs WHERE id = $1 AND lease = $2 AND starts = 0 RETURNING ${JOB_COLUMNS}, ${COUNTED_COLUMNS}`,
          [jobId, lease],
        );
        if (row === undefined) return undefined;
        await query('DELETE FROM job_calls WHERE job_id = $1', [jobId]);
        for (const table of ['idempotency_keys', 'task_events'])
          await query(`DELETE FROM ${table} WHERE task_id = $1`, [jobId]);
        await leaveCounters(query, row);
        return fromJobRow(row);
      }),
    ...sqlJobEnd(sql, writes),
  };
}

function sqlJobEnd(sql: Sql, { note, writeEvent }: EndWrites): Pick<JobStore, 'finishJob'> {
  return {
    finishJob: ({ jobId, lease }, finished) =>
      sql.transaction(async (query) => {
        const [row] = await query<EndedRow>(
          `UPDATE jobs SET state = $1, answer_json = $2, answer_object = $3, failure_json = $4, finished_at = $5,
           updated_at = $5, due_at = NULL, lease = NULL, lease_until = NULL
         WHERE id = $6 AND lease = $7 AND ${UNFINISHED_JOB} RETURNING ${ENDED_COLUMNS}`,
          [
            finished.state,
            toJson(finished.answer),
            readObjectId(finished.answer?.body),
            toJson(finished.failure),
            finished.at,
            jobId,
            lease,
          ],
        );
        if (row === undefined) return false;
        await Promise.all([
          query('DELETE FROM job_calls WHERE job_id = $1', [jobId]),
          writeEvent(query, {
            accountId: row.account_id,
            type: `job.${finished.state}`,
            subjectId: jobId,
            createdAt: finished.at,
            url: optionalText(row.webhook_url),
            origin: {
              requestId: optionalText(row.request_id),
              trace: optionalText(row.trace),
              createdAt: Number(row.created_at),
            },
          }),
        ]);
        if (finished.attention !== undefined)
          await raiseIn(query, note, { taskId: jobId, since: finished.at, ...finished.attention });
        await note(query, jobId, finished.at, {
          type: finished.state,
          detail: { ...finished.failure, status: finished.answer?.statusCode },
        });
        await leaveCounters(query, row);
        return true;
      }),
  };
}

async function insertJob(
  query: SqlQuery,
  { call, lease, ...job }: Omit<NewJob, 'caps'>,
  permits: readonly Permit[],
): Promise<void> {
  await query(
    `INSERT INTO jobs (id, account_id, token_id, models_json, request_id, endpoint, model, repeatable, state,
       due_at, lease, lease_until, worker, body_object, created_at, updated_at, ${COUNTED_COLUMNS},
       trace, trace_parent, webhook_url)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', $9, $10, $11, $12, $13, $14, $14, $15, $16, $17, $18, $19)`,
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
      readObjectId(call.body),
      job.createdAt,
      ...toCountedValues(permits),
      job.trace ?? null,
      job.traceParent ?? null,
      job.webhookUrl ?? null,
    ],
  );
  await query('INSERT INTO job_calls (job_id, call_json) VALUES ($1, $2)', [job.id, JSON.stringify(call)]);
}

/** Takes an ended job out of its counters: the last step of its transaction. */
async function leaveCounters(query: SqlQuery, row: CountedJobRow): Promise<void> {
  const scopes =
    row.in_flight_json === null ? [jobTokenScope(row.token_id), JOBS_TOTAL_SCOPE] : parseList(row.in_flight_json);
  await countDown(query, findCounterRows(scopes, row.shards_json));
}
