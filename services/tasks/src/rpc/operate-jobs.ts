import { assertOwner } from '@reelgate/platform/rpc/access';
import { readSampledTraceId } from '@reelgate/platform/trace/traceparent';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { Job } from '../domain/job.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import { assertPosition } from '../operations/reads/read-tasks.ts';
import { jobNotFound } from '../operations/task-refusals.ts';
import { readLimit, readStateFilter } from './list-request.ts';
import { toWireJob } from './mapping-job.ts';
import { toWireEvent } from './operate-tasks.ts';

const LIST_LIMIT = 100;

/** The view of jobs for operators: everything except the request and the answer. */
export function operateJobs({ jobs, attention }: JobDeps) {
  return {
    showJob: async ({ jobId }, { caller }) => {
      const job = await jobs.findJob(jobId);
      assertOwner(caller, job?.accountId, 'job_id');
      if (job === undefined) throw jobNotFound();
      return {
        record: {
          ...toJobRecord(job),
          events: (await attention.events(jobId)).map(toWireEvent),
        },
      };
    },
    listJobRecords: async ({ accountId, state, limit, after }) => {
      const page = { limit: readLimit(limit, LIST_LIMIT), after };
      const filter = { accountId, state: readStateFilter(state) };
      if (after !== '') assertPosition(await jobs.findJob(after), accountId, 'job');
      const found = await jobs.listJobs(filter, page);
      return { records: found.map(toJobRecord) };
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

export function toJobRecord({ answer, ...job }: Job) {
  const shown = answer === undefined ? job : { ...job, answer: { ...answer, body: { inline: '' } } };
  const { tokenId, endpoint, model, starts, requestId, trace } = job;
  const traceId = readSampledTraceId(trace) ?? '';
  return { job: toWireJob(shown), tokenId, endpoint, model, starts, requestId, traceId };
}
