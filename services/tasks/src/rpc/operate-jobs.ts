import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { Job } from '../domain/job.ts';
import type { JobDeps } from '../operations/job-deps.ts';
import { jobNotFound } from '../operations/refusals.ts';
import { toWireJob } from './mapping-job.ts';
import { nameOf } from './mapping-order.ts';
import { STATES } from './mapping-task.ts';

const LIST_LIMIT_MAX = 1000;

/** Jobs as operators see them: everything but what was asked and answered. */
export function operateJobs({ jobs, attention }: JobDeps): Pick<Implementation<typeof OperatorService>, 'showJob' | 'listJobRecords'> {
  return {
    showJob: async ({ jobId }) => {
      const job = await jobs.findJob(jobId);
      if (job === undefined) throw jobNotFound();
      return { record: { ...jobRecord(job), events: (await attention.events(jobId)).map(({ at, type, detailJson }) => ({ at: timestampFromMs(at), type, detailJson })) } };
    },
    listJobRecords: async ({ accountId, state, limit, after }) => {
      const found = await jobs.listJobs({ accountId, state: nameOf(STATES, state) }, { limit: Math.min(Math.max(limit, 1), LIST_LIMIT_MAX), after });
      return { records: found.map(jobRecord) };
    },
  };
}

export function jobRecord({ answer, ...job }: Job) {
  const shown = answer === undefined ? job : { ...job, answer: { ...answer, body: { inline: '' } } };
  return { job: toWireJob(shown), tokenId: job.tokenId, endpoint: job.endpoint, model: job.model, starts: job.starts };
}
