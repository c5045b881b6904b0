import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { assertOwner } from '@reelgate/platform/rpc/access';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { resolveAttention } from '../operations/attention/resolve-attention.ts';
import type { Deps } from '../operations/deps.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import { resolveJob } from '../operations/attention/resolve-attention.ts';
import type { OperatorDeps } from '../operations/operators/operator-deps.ts';
import { fromWireEnum } from './mapping-order.ts';
import { STATES } from './mapping-task.ts';
import { toJobRecord } from './operate-jobs.ts';
import { readTaskRecord } from './operate-tasks.ts';

const RESOLUTIONS = { completed: Resolution.COMPLETED, failed: Resolution.FAILED, retry: Resolution.RETRY } as const;

/** The tasks and jobs that wait for a person, and the decisions over them. */
export function operateAttention(
  deps: Deps,
  jobs: JobDeps,
  { backlog }: Pick<OperatorDeps, 'backlog'>,
): Pick<Implementation<typeof OperatorService>, 'listAttention' | 'countAttention' | 'resolveAttention'> {
  const { store } = deps;
  return {
    listAttention: async () => ({
      items: (await store.listOpenAttention()).map(({ since, state, ...item }) => ({
        ...item,
        since: timestampFromMs(since),
        state: STATES[state],
      })),
    }),
    countAttention: async () => ({ waiting: BigInt((await backlog.countAttention()).count) }),
    resolveAttention: async ({ taskId, resolution, actor, reason }, { caller }) => {
      const decision = { resolution: fromWireEnum(RESOLUTIONS, resolution), actor: actor || caller.name, reason };
      const job = await jobs.jobs.findJob(taskId);
      assertOwner(caller, (job ?? (await store.find(taskId)))?.accountId, 'task_id');
      if (job !== undefined) {
        await resolveJob(jobs, job, decision);
        return { jobRecord: toJobRecord(job) };
      }
      return { record: await readTaskRecord(deps, await resolveAttention(deps, taskId, decision)) };
    },
  };
}
