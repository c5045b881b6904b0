import type { NewId } from '@reelgate/platform/ids';
import { JobAnswerSchema, JobCallSchema } from '@reelgate/proto/tasks/v1/job';
import type { JobAnswer, JobCall } from '@reelgate/proto/tasks/v1/job';
import { parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlValue, SqlWork } from '@reelgate/platform/sql/sql';
import { JOBS_TOTAL_SCOPE, jobTokenScope } from '../../domain/in-flight-scope.ts';
import { CREATE_LEASE } from '../../domain/job.ts';
import type { JobOrigin } from '../../domain/job.ts';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import {
  inFlag,
  inJson,
  inNumber,
  inOptionalJson,
  inOptionalMessage,
  inOptionalNumber,
  inOptionalText,
  inText,
  optionalText,
  recordColumns,
  searchable,
  selectNumber,
  text,
  toInsert,
  toJson,
  toMessageJson,
} from '../columns.ts';
import type { Fields } from '../columns.ts';
import type {
  Job,
  JobBeginStore,
  JobFinishStore,
  JobLeaseStore,
  JobReader,
  JobRetentionStore,
  JobStore,
  NewJob,
  PendingJobReader,
} from '../job-store.ts';
import { awaitBeginResult, takeKeys } from '../tasks/sql-admission.ts';
import { raiseIn } from '../tasks/sql-attention.ts';
import type { Permit } from '../tasks/counter-shards.ts';
import { sqlNotes } from '../tasks/sql-history.ts';
import type { WriteNote } from '../tasks/sql-history.ts';
import { COUNTED_COLUMNS, countDown, findCounterRows, parseList, toCountedRow } from '../tasks/sql-in-flight.ts';
import type { CountedRow } from '../tasks/sql-in-flight.ts';
import { shardsOn, sqlPermits } from '../tasks/sql-permits.ts';
import type { WithPermits } from '../tasks/sql-permits.ts';
import { sqlEventWrites } from '../webhooks/sql-events.ts';
import type { WriteEvent } from '../webhooks/sql-events.ts';

const UNFINISHED = 'finished_at IS NULL';

const ORIGIN_FIELDS: Fields<JobOrigin> = {
  id: inText('id'),
  accountId: inText('account_id'),
  tokenId: inText('token_id'),
  visibleModels: inJson('models_json'),
  requestId: inText('request_id'),
  repeatable: inFlag('repeatable'),
  createdAt: inNumber('created_at'),
  trace: inOptionalText('trace'),
  traceParent: inOptionalText('trace_parent'),
};

const ORIGIN = recordColumns(ORIGIN_FIELDS);

const CALL = inOptionalMessage('call_json', JobCallSchema);

export const JOB = recordColumns<Job>({
  ...ORIGIN_FIELDS,
  endpoint: inText('endpoint'),
  model: inText('model'),
  state: inText('state'),
  isBeingCreated: {
    columns: ['lease'],
    read: (row) => text(row['lease']).startsWith(`${CREATE_LEASE}_`),
    write: () => ({}),
  },
  starts: inNumber('starts'),
  updatedAt: inNumber('updated_at'),
  finishedAt: inOptionalNumber('finished_at'),
  answer: inOptionalMessage('answer_json', JobAnswerSchema),
  failure: inOptionalJson('failure_json'),
});

export function sqlJobs(sql: Sql, newId: NewId, shardsMax = shardsOn(sql)): JobStore & JobRetentionStore {
  const note = sqlNotes(newId);
  return {
    ...sqlJobBegins(sql, note, sqlPermits(sql, shardsMax).withPermits),
    ...sqlJobFinish(sql, note, sqlEventWrites(newId)),
    ...sqlJobLeases(sql, note),
    ...sqlJobReads(sql),
    ...sqlJobRetention(sql),
  };
}

function sqlJobReads(sql: Sql): JobReader & PendingJobReader {
  return {
    findJob: (jobId) => JOB.selectFirstFrom(sql.read, 'jobs WHERE id = $1', [searchable(jobId)]),
    listJobs: ({ accountId, state }, { limit, after }) =>
      JOB.selectFrom(
        sql.read,
        `jobs WHERE ($1 = '' OR account_id = $1) AND ($2 = '' OR state = $2) AND ($3 = '' OR id < $3)
         ORDER BY id DESC LIMIT $4`,
        [searchable(accountId ?? ''), state ?? '', after ?? '', limit],
      ),
    pendingJobs: async () =>
      (
        await sql.read(
          `SELECT state, COUNT(*) AS count, MIN(created_at) AS oldest_at
           FROM jobs WHERE ${UNFINISHED} GROUP BY state`,
        )
      ).map((row) => ({ state: text(row['state']), count: Number(row['count']), oldestAt: Number(row['oldest_at']) })),
  };
}

/** The columns that the end of a job needs of its row. */
const ENDED_COLUMNS = `account_id, token_id, ${COUNTED_COLUMNS}, webhook_url, request_id, trace, created_at`;

interface CountedJobRow extends CountedRow {
  readonly token_id: string;
}

interface EndedRow extends CountedJobRow {
  readonly account_id: string;
  readonly webhook_url: SqlValue;
  readonly request_id: SqlValue;
  readonly trace: SqlValue;
  readonly created_at: SqlValue;
}

const FINISH = buildStatement<'jobId' | 'lease' | 'state' | 'answer' | 'answerObject' | 'failure' | 'at'>(
  (of) => `UPDATE jobs SET state = ${of('state')}, answer_json = ${of('answer')}, answer_object = ${of('answerObject')},
      failure_json = ${of('failure')}, finished_at = ${of('at')}, updated_at = ${of('at')}, due_at = NULL,
      lease = NULL, lease_until = NULL
    WHERE id = ${of('jobId')} AND lease = ${of('lease')} AND ${UNFINISHED} RETURNING ${ENDED_COLUMNS}`,
);

function sqlJobBegins(sql: Sql, note: WriteNote, withPermits: WithPermits): JobBeginStore {
  return {
    beginJob: (job, signal) =>
      awaitBeginResult(
        withPermits({ id: job.id, caps: job.caps, signal }, async (query, permits) => {
          if (job.idempotency !== undefined) await takeKeys(query, [{ owner: job, idempotency: job.idempotency }]);
          await insertJob(query, job, permits);
          await note(query, job.id, job.createdAt, { type: 'created' });
        }),
      ),
    withdrawJob: ({ jobId, lease }) =>
      sql.transaction(async (query) => {
        const [row] = await query<CountedJobRow>(
          `DELETE FROM jobs WHERE id = $1 AND lease = $2 AND starts = 0 RETURNING ${JOB.list}, ${COUNTED_COLUMNS}`,
          [jobId, lease],
        );
        if (row === undefined) return undefined;
        await query('DELETE FROM job_calls WHERE job_id = $1', [jobId]);
        for (const table of ['idempotency_keys', 'task_events'])
          await query(`DELETE FROM ${table} WHERE task_id = $1`, [jobId]);
        leaveCounters(query, row);
        return JOB.read(row);
      }),
  };
}

function sqlJobFinish(sql: Sql, note: WriteNote, writeEvent: WriteEvent): JobFinishStore {
  return {
    finishJob: ({ jobId, lease }, finished) =>
      sql.transaction(async (query) => {
        const [row] = await query<EndedRow>(
          ...FINISH({
            jobId,
            lease,
            state: finished.state,
            answer: toMessageJson(JobAnswerSchema, finished.answer),
            answerObject: readObjectId(finished.answer?.body),
            failure: toJson(finished.failure),
            at: finished.at,
          }),
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
        leaveCounters(query, row);
        return true;
      }),
  };
}

async function insertJob(query: SqlQuery, job: NewJob, permits: readonly Permit[]): Promise<void> {
  const { call, lease } = job;
  await query(
    ...toInsert('jobs', {
      ...ORIGIN.write(job),
      endpoint: call.endpoint,
      model: call.model,
      state: 'queued',
      due_at: lease === undefined ? job.createdAt : null,
      lease: lease?.name ?? null,
      lease_until: lease?.until ?? null,
      worker: lease?.worker ?? null,
      body_object: readObjectId(call.body),
      updated_at: job.createdAt,
      webhook_url: job.webhookUrl ?? null,
      ...toCountedRow(permits),
    }),
  );
  await query(...toInsert('job_calls', { job_id: job.id, call_json: toMessageJson(JobCallSchema, call) }));
}

/** Takes an ended job out of its counters. */
function leaveCounters(query: SqlWork, row: CountedJobRow): void {
  const scopes =
    row.in_flight_json === null ? [jobTokenScope(row.token_id), JOBS_TOTAL_SCOPE] : parseList(row.in_flight_json);
  countDown(query, findCounterRows(scopes, row.shards_json));
}

/** Candidates for each wanted job, because other workers may take the first ones at the same moment. */
const CANDIDATES = 8;
/** Due jobs that a lease considers: the oldest of all, and as many of the accounts without a running job. */
const CONSIDERED_MAX = 2000;

/**
 * The next jobs: one of each account after the other, counting the running jobs of the account, for an account one of
 * each token in the same way, and for a token the job that has waited longest. The jobs of accounts without a running
 * job are considered apart, so that the backlog of no other account hides them.
 */
const buildNextJobs = (of: (name: 'now' | 'limit' | 'candidates') => string): string => `
  WITH running AS (
    SELECT account_id, token_id, COUNT(*) AS held FROM jobs WHERE lease_until IS NOT NULL GROUP BY account_id, token_id
  ),
  longest AS (
    SELECT id FROM (
      SELECT id FROM jobs WHERE due_at IS NOT NULL AND due_at <= ${of('now')} ORDER BY due_at LIMIT ${CONSIDERED_MAX}
    ) AS longest
    UNION
    SELECT id FROM (
      SELECT id FROM jobs WHERE due_at IS NOT NULL AND due_at <= ${of('now')}
        AND account_id NOT IN (SELECT account_id FROM running) ORDER BY due_at LIMIT ${CONSIDERED_MAX}
    ) AS longest
  ),
  due AS (
    SELECT jobs.id, jobs.account_id, jobs.due_at,
      COALESCE((
        SELECT held FROM running WHERE running.account_id = jobs.account_id AND running.token_id = jobs.token_id
      ), 0) + ROW_NUMBER() OVER (PARTITION BY jobs.account_id, jobs.token_id ORDER BY jobs.due_at, jobs.id) AS of_token
    FROM longest JOIN jobs ON jobs.id = longest.id
  ),
  fair AS (
    SELECT id, due_at,
      COALESCE((SELECT SUM(held) FROM running WHERE running.account_id = due.account_id), 0)
        + ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY of_token, due_at, id) AS fair_rank
    FROM due ORDER BY fair_rank, due_at LIMIT ${of('candidates')}
  )
  SELECT jobs.id FROM fair JOIN jobs ON jobs.id = fair.id
  WHERE jobs.due_at IS NOT NULL ORDER BY fair.fair_rank, fair.due_at LIMIT ${of('limit')}`;

const REQUEUE = buildStatement<'jobId' | 'lease' | 'starts' | 'at' | 'dueAt'>(
  (of) => `UPDATE jobs SET state = 'queued', due_at = ${of('dueAt')}, lease = NULL, lease_until = NULL,
      updated_at = ${of('at')}
    WHERE id = ${of('jobId')} AND lease = ${of('lease')} AND starts = ${of('starts')} AND ${UNFINISHED} RETURNING id`,
);

/** The leases of jobs: the worker that has a job, and the end of its lease. */
function sqlJobLeases(sql: Sql, note: WriteNote): JobLeaseStore {
  const takeNext = buildStatement<'lease' | 'until' | 'worker' | 'now' | 'limit' | 'candidates'>(
    (
      of,
    ) => `UPDATE jobs SET lease = ${of('lease')}, lease_until = ${of('until')}, worker = ${of('worker')}, due_at = NULL
      WHERE id IN (${buildNextJobs(of)} ${sql.skipLocked}) AND due_at IS NOT NULL RETURNING ${JOB.list}`,
  );
  return {
    findFirstDue: () => selectNumber(sql.read, 'due_at', 'jobs WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1'),
    leaseJobs: ({ worker, lease, now, until, limit }) =>
      sql.transaction(async (query) => {
        const rows = await query(...takeNext({ lease, until, worker, now, limit, candidates: limit * CANDIDATES }));
        if (rows.length === 0) return [];
        const jobs = rows.map(JOB.read).toSorted((one, other) => one.createdAt - other.createdAt);
        const calls = await query(
          `SELECT job_id, call_json FROM job_calls WHERE job_id IN (${parameters(jobs.length)})`,
          jobs.map(({ id }) => id),
        );
        const byId = new Map(calls.map((row) => [text(row['job_id']), CALL.read(row)]));
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
         WHERE lease_until > $2 AND id IN (${parameters(ids.length, 3)})
           AND lease IN (${parameters(names.length, 3 + ids.length)}) RETURNING id`,
        [until, now, ...ids, ...names],
      );
      return new Set(kept.map((row) => text(row['id'])));
    },
    endLeases: (now) =>
      sql.transaction((query) => query.changes('UPDATE jobs SET lease_until = $1 WHERE lease_until > $1', [now])),
    lostJobs: async (now, limit) =>
      (
        await sql.read(
          `SELECT ${JOB.list} FROM jobs
           WHERE lease_until IS NOT NULL AND lease_until <= $1 ORDER BY lease_until LIMIT $2`,
          [now, limit],
        )
      ).map((row) => ({ job: JOB.read(row), lease: { jobId: text(row['id']), lease: text(row['lease']) } })),
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
        const back = await query(...REQUEUE({ jobId, lease, starts, at, dueAt }));
        if (back.length > 0) await note(query, jobId, at, { type: 'returned', detail: { why } });
        return back.length > 0;
      }),
  };
}

/** The owner may still repeat the call with its key, or a person must still decide. */
const NEEDED = `EXISTS (SELECT 1 FROM idempotency_keys WHERE idempotency_keys.task_id = jobs.id AND expires_at > $2)
  OR EXISTS (SELECT 1 FROM attention WHERE attention.task_id = jobs.id AND resolved_at IS NULL)`;

function sqlJobRetention(sql: Sql): JobRetentionStore {
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
           WHERE finished_at IS NOT NULL AND id IN (${parameters(jobIds.length)})`,
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
      const among = parameters(jobIds.length);
      await sql.transaction(async (query) => {
        for (const table of ['task_events', 'attention', 'idempotency_keys'])
          await query(`DELETE FROM ${table} WHERE task_id IN (${among})`, jobIds);
        await query(`DELETE FROM jobs WHERE id IN (${among})`, jobIds);
      });
    },
  };
}

/** The id of the private media object that holds the bytes, if any. */
function readObjectId(body: (JobCall | JobAnswer)['body'] | undefined): string | null {
  return body?.case === 'object' ? body.value : null;
}
