import type { RpcAnswer, RpcRequest } from '../../../api/calls.ts';
import { requireValue } from '../../../parts/contract-values.ts';

const PAGE = 50;

type JobRecord = RpcAnswer<'tasks.OperatorService/ListJobRecords'>['records'][number];
type JobsRequest = RpcRequest<'tasks.OperatorService/ListJobRecords'>;

/** A job beside what only operators know of it. */
export type JobFacts = Omit<JobRecord, 'job'> & NonNullable<JobRecord['job']>;

/** The request for a page of the list that the address names. */
export function toJobsRequest(query: URLSearchParams): JobsRequest {
  const state = query.get('state') ?? '';
  return {
    accountId: query.get('account')?.trim() ?? '',
    after: query.get('after') ?? '',
    // one more says whether there is a next page
    limit: PAGE + 1,
    // the service refuses a state that is none
    ...(state === '' ? {} : { state: `TASK_STATE_${state.toUpperCase()}` as NonNullable<JobsRequest['state']> }),
  };
}

/** The jobs of a page, and the last one if another page follows. */
export function readJobs(records: readonly JobRecord[]): {
  readonly jobs: readonly JobFacts[];
  readonly after: string | undefined;
} {
  const jobs = records.slice(0, PAGE).map(readJob);
  return { jobs, after: records.length > PAGE ? jobs.at(-1)?.id : undefined };
}

export function readJob({ job, ...record }: JobRecord): JobFacts {
  return { ...record, ...requireValue(job) };
}
