import type { Handler } from '@reelgate/platform/bus/bus';
import { isProblem } from '@reelgate/platform/problem';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Usage } from '@reelgate/proto/tasks/v1/task';
import type { TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { BillingDeps } from '../operations/deps.ts';
import { releaseHold } from '../operations/holds/release-hold.ts';
import { settleHold } from '../operations/holds/settle-hold.ts';

type Deps = Pick<BillingDeps, 'holds' | 'clock' | 'measures' | 'log' | 'overrunFactor'>;

/** A completed task is charged, a failed one gets its hold back. The event may come twice, late and in any order. */
export function onTaskFinished(deps: Deps): Handler<typeof TaskFinishedSchema> {
  return async ({ taskId, state, usage }) => {
    if (state === TaskState.FAILED) {
      await releaseHold(deps, taskId);
    } else if (state === TaskState.COMPLETED) {
      await settleWhatIsHeld(deps, taskId, usage);
    } else {
      deps.log.error({ taskId, state }, 'a finished task is neither completed nor failed: its hold stays');
    }
  };
}

/** A hold is placed before anything is submitted, so where there is none by now there will be none: nothing to try again. */
async function settleWhatIsHeld(deps: Deps, taskId: string, usage: Usage | undefined): Promise<void> {
  try {
    await settleHold(deps, {
      taskId,
      confirmed: false,
      usage: { seconds: usage?.totalSeconds, inputTokens: usage?.promptTokens, outputTokens: usage?.completionTokens },
    });
  } catch (error) {
    if (!isProblem(error, 'hold_not_found')) throw error;
    deps.log.warn({ taskId }, 'a task was completed without a hold');
  }
}
