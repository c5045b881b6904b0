import type { JobList, JobRow, JobView } from '../../../console/api/operator-jobs.ts';
import type { JobRecord, JobRecords } from '../../clients/job-records-client.ts';
import { WIRE_TASK_STATES } from '../../clients/plain-task.ts';
import { readEnumName } from '../../dialects/wire/query-values.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { readTextFilter } from '../read-filters.ts';
import { readIdFilter } from './read-request.ts';

const PAGE = 50;
const ACCOUNT_MAX = 256;

interface Parts {
  readonly jobs: JobRecords;
}

/** The calls of synchronous routes that are made later, of every account. */
export function jobsRoutes(parts: Parts): OperatorRouteEntry[] {
  return [
    operatorRoute({
      method: 'GET',
      path: '/jobs',
      name: 'listJobs',
      role: 'viewer',
      answer: (exchange) => jobList(parts, exchange),
    }),
    operatorRoute({
      method: 'GET',
      path: '/jobs/{job_id}',
      name: 'getJob',
      role: 'viewer',
      answer: (exchange) => jobView(parts, exchange),
    }),
  ];
}

async function jobList({ jobs: client }: Parts, { querystring, state }: Exchange): Promise<JobList> {
  const query = new URLSearchParams(querystring);
  const question = {
    limit: PAGE,
    accountId: readTextFilter(query, 'account', ACCOUNT_MAX),
    state: readEnumName(query, 'state', WIRE_TASK_STATES),
    after: readIdFilter(query, 'after'),
  };
  const { jobs, hasMore } = await client.list(question, state);
  const last = jobs.at(-1);
  return { jobs: jobs.map(jobRow), ...(hasMore && last !== undefined ? { after: last.id } : {}) };
}

async function jobView({ jobs }: Parts, { params, state }: Exchange): Promise<JobView> {
  const { job_id: id = '' } = params;
  const [record, isInAttention] = await Promise.all([jobs.get(id, state), jobs.isInAttention(id, state)]);
  const { tokenId, history } = record;
  return { job: { ...jobRow(record), tokenId }, history, isInAttention };
}

function jobRow({ id, accountId, endpoint, model, state, starts, createdAt, endedAt, failure }: JobRecord): JobRow {
  return {
    ...{ id, accountId, endpoint, model, state, starts, createdAt },
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(failure === undefined ? {} : { failure }),
  };
}
