import { assertOwner } from '@reelgate/platform/rpc/access';
import { readSampledTraceId } from '@reelgate/platform/trace/traceparent';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { JobRecordSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { JobRecord, OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import { assertPosition } from '../operations/reads/read-tasks.ts';
import { jobNotFound } from '../operations/task-refusals.ts';
import type { Job } from '../store/job-store.ts';
import type { HistoryEntry } from '../store/task-store.ts';
import { toWireJob } from '../operations/reads/work-messages.ts';
import { readLimit, readStateFilter } from './request-fields.ts';
import { toWireEvent } from './operate-tasks.ts';

const LIST_LIMIT = 100;

/** The view of jobs for operators: everything except the request and the answer. */
export function operateJobs({ jobs, attention }: JobDeps) {
  return {
    showJob: async ({ jobId }, { caller }) => {
      const job = await jobs.findJob(jobId);
      assertOwner(caller, job?.accountId, 'job_id');
      if (job === undefined) throw jobNotFound();
      return { record: toJobRecord(job, await attention.events(jobId)) };
    },
    listJobRecords: async ({ accountId, state, limit, after }) => {
      const page = { limit: readLimit(limit, LIST_LIMIT), after };
      const filter = { accountId, state: readStateFilter(state) };
      if (after !== '') assertPosition(await jobs.findJob(after), accountId, 'job');
      const found = await jobs.listJobs(filter, page);
      return { records: found.map((job) => toJobRecord(job)) };
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

/** In a list a job has no history, which has rows of its own. */
export function toJobRecord(job: Job, events: readonly HistoryEntry[] = []): JobRecord {
  const { answer, tokenId, endpoint, model, starts, requestId, trace } = job;
  return toMessage(JobRecordSchema, {
    job: toWireJob({ ...job, answer: answer && { ...answer, body: { case: undefined } } }),
    tokenId,
    endpoint,
    model,
    starts,
    events: events.map(toWireEvent),
    requestId,
    traceId: readSampledTraceId(trace),
  });
}
