import type { Handler } from '@reelgate/platform/bus/bus';
import { isProblem } from '@reelgate/platform/problem';
import { inRequest, inTrace, readRequestId } from '@reelgate/platform/request-context';
import type { Span } from '@reelgate/platform/trace/trace';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Usage } from '@reelgate/proto/tasks/v1/task';
import type { TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { BillingDeps } from '../operations/deps.ts';
import { inSettleSpan, releaseHold, settleHold } from '../operations/holds/end-hold.ts';

/** Charges a completed task and releases the hold of a failed one. The event can come twice, late and in any order. */
export function onTaskFinished(deps: BillingDeps): Handler<typeof TaskFinishedSchema> {
  return ({ requestId, ...finished }, span) =>
    inRequest(readRequestId(requestId), () => inTrace(span.traceId, () => settle(deps, { ...finished, span })));
}

async function settle(
  deps: BillingDeps,
  { state, ...finished }: FinishedTask & { readonly state: TaskState },
): Promise<void> {
  const { taskId, span, upstreamCostMicroUsd } = finished;
  const channel = finished.channel || undefined;
  if (state === TaskState.FAILED)
    await inSettleSpan(span, () => releaseHold(deps, { taskId, channel, upstreamCostMicroUsd }));
  else if (state === TaskState.COMPLETED) await settleCompletedTask(deps, finished);
  else deps.log.error({ taskId, state }, 'a finished task is neither completed nor failed; its hold stays');
}

interface FinishedTask {
  readonly taskId: string;
  readonly usage?: Usage | undefined;
  /** Empty if there is no channel. */
  readonly channel: string;
  readonly upstreamCostMicroUsd?: bigint | undefined;
  readonly span: Span;
}

/** A hold is placed before the task is submitted, so a missing hold will never come, and the event is not retried. */
async function settleCompletedTask(
  deps: BillingDeps,
  { taskId, usage, channel, upstreamCostMicroUsd, span }: FinishedTask,
): Promise<void> {
  const used = {
    seconds: usage?.totalSeconds,
    inputTokens: usage?.promptTokens,
    outputTokens: usage?.completionTokens,
  };
  try {
    const by = { channel: channel || undefined, upstreamCostMicroUsd };
    const request = { taskId, confirmed: false, usage: used, mayRepeat: false, ...by };
    await inSettleSpan(span, () => settleHold(deps, request));
  } catch (error) {
    if (!isProblem(error, 'hold_not_found')) throw error;
    deps.log.warn({ taskId }, 'a completed task has no hold');
  }
}
