import type { Handler } from '@reelgate/platform/bus/bus';
import { isProblem } from '@reelgate/platform/problem';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Usage } from '@reelgate/proto/tasks/v1/task';
import type { TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { BillingDeps } from '../operations/deps.ts';
import { releaseHold } from '../operations/holds/release-hold.ts';
import { settleHold } from '../operations/holds/settle-hold.ts';

type Deps = Pick<BillingDeps, 'holds' | 'clock' | 'measures' | 'log' | 'overrunFactor'>;

/** Charges a completed task and releases the hold of a failed one. The event can come twice, late and in any order. */
export function onTaskFinished(deps: Deps): Handler<typeof TaskFinishedSchema> {
  return async ({ taskId, state, usage }) => {
    if (state === TaskState.FAILED) {
      await releaseHold(deps, taskId);
    } else if (state === TaskState.COMPLETED) {
      await settleWhatIsHeld(deps, taskId, usage);
    } else {
      deps.log.error({ taskId, state }, 'a finished task is neither completed nor failed; its hold stays');
    }
  };
}

/** A hold is placed before the task is submitted, so a missing hold will never come, and the event is not retried. */
async function settleWhatIsHeld(deps: Deps, taskId: string, usage: Usage | undefined): Promise<void> {
  try {
    await settleHold(deps, {
      taskId,
      confirmed: false,
      usage: { seconds: usage?.totalSeconds, inputTokens: usage?.promptTokens, outputTokens: usage?.completionTokens },
    });
  } catch (error) {
    if (!isProblem(error, 'hold_not_found')) throw error;
    deps.log.warn({ taskId }, 'a completed task has no hold');
  }
}
