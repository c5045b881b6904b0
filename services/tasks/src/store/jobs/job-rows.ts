import type { SqlRow, SqlValue } from '@reelgate/platform/sql/sql';
import { CREATE_LEASE } from '../../domain/job.ts';
import type { Job, JobAnswer, JobBytes, JobCall } from '../../domain/job.ts';
import type { Failure, State } from '../../domain/task.ts';
import { json, optionalNumber, optionalText, text } from '../tasks/task-rows.ts';

export const UNFINISHED_JOB = 'finished_at IS NULL';

/** The columns that `fromJobRow` reads. */
export const JOB_COLUMNS = `id, account_id, token_id, models_json, request_id, endpoint, model, repeatable, state,
  lease, starts, answer_json, failure_json, created_at, updated_at, finished_at,
  trace, trace_parent`;

export function fromJobRow(row: SqlRow): Job {
  return {
    id: text(row['id']),
    accountId: text(row['account_id']),
    tokenId: text(row['token_id']),
    visibleModels: JSON.parse(text(row['models_json'])) as string[],
    requestId: text(row['request_id']),
    endpoint: text(row['endpoint']),
    model: text(row['model']),
    repeatable: Number(row['repeatable']) === 1,
    state: text(row['state']) as State,
    isBeingCreated: text(row['lease']).startsWith(`${CREATE_LEASE}_`),
    starts: Number(row['starts']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    finishedAt: optionalNumber(row['finished_at']),
    answer: json<JobAnswer>(row['answer_json']),
    failure: json<Failure>(row['failure_json']),
    trace: optionalText(row['trace']),
    traceParent: optionalText(row['trace_parent']),
  };
}

export function fromCallJson(value: SqlValue | undefined): JobCall {
  return JSON.parse(text(value)) as JobCall;
}

/** The id of the private media object that holds the bytes, if any. */
export function readObjectId(bytes: JobBytes | undefined): string | null {
  return bytes !== undefined && 'object' in bytes ? bytes.object : null;
}
