import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { assertOwner } from '@reelgate/platform/rpc/access';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { resolveAttention } from '../operations/attention/resolve-attention.ts';
import type { Deps } from '../operations/deps.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import { resolveJob } from '../operations/jobs/resolve-job.ts';
import { nameOf } from './mapping-order.ts';
import { operateChannels } from './operate-channels.ts';
import { jobRecord, operateJobs } from './operate-jobs.ts';
import { operateTasks, taskRecord } from './operate-tasks.ts';

const RESOLUTIONS = { completed: Resolution.COMPLETED, failed: Resolution.FAILED, retry: Resolution.RETRY } as const;

/** The view for operators. Private facts of the upstreams leave this service only here. */
export function operatorService(deps: Deps, jobs: JobDeps): Implementation<typeof OperatorService> {
  return {
    ...operateTasks(deps),
    ...operateJobs(jobs),
    ...operateAttention(deps, jobs),
    ...operateChannels(deps),
  };
}

function operateAttention(
  deps: Deps,
  jobs: JobDeps,
): Pick<Implementation<typeof OperatorService>, 'listAttention' | 'resolveAttention'> {
  const { store } = deps;
  return {
    listAttention: async () => ({
      items: (await store.open()).map(({ since, ...item }) => ({ ...item, since: timestampFromMs(since) })),
    }),
    resolveAttention: async ({ taskId, resolution, actor }, { caller }) => {
      const decision = nameOf(RESOLUTIONS, resolution);
      const job = await jobs.jobs.findJob(taskId);
      assertOwner(caller, (job ?? (await store.find(taskId)))?.accountId, 'task_id');
      if (job !== undefined) {
        await resolveJob(jobs, job, { resolution: decision, actor });
        return { jobRecord: jobRecord(job) };
      }
      return { record: await taskRecord(deps, await resolveAttention(deps, taskId, { resolution: decision, actor })) };
    },
  };
}
