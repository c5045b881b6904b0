import type { Implementation } from '@reelgate/platform/rpc/service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { Deps } from '../operations/deps.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import type { OperatorDeps } from '../operations/operators/operator-deps.ts';
import { operateActs } from './operate-acts.ts';
import { operateAttention } from './operate-attention.ts';
import { operateChannels, operatePauses } from './operate-channels.ts';
import { operateJobs } from './operate-jobs.ts';
import { operatePulse } from './operate-pulse.ts';
import { operateTasks } from './operate-tasks.ts';

/** The view for operators. Private facts of the upstreams leave this service only here. */
export function operatorService(
  deps: Deps,
  jobs: JobDeps,
  operate: OperatorDeps,
): Implementation<typeof OperatorService> {
  return {
    ...operateTasks(deps),
    ...operateJobs(jobs),
    ...operateAttention(deps, jobs, operate),
    ...operateChannels(deps, operate),
    ...operatePauses(operate),
    ...operateActs(operate),
    ...operatePulse(operate),
  };
}
