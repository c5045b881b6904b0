import { CallEnded } from '@reelgate/platform/call-ended';
import { Problem } from '@reelgate/platform/problem';
import { nothingBegun } from '@reelgate/platform/service-unavailable';
import type { Span } from '@reelgate/platform/trace/trace';
import type { Failure } from '../../domain/task.ts';
import type { NewTask } from '../../store/task-store.ts';
import type { Deps } from '../deps.ts';
import { releaseRefused } from '../ends/settle-task.ts';
import { writeTaskSpan } from '../tracing/task-span.ts';

/**
 * Hides a create that no upstream accepted, releases its hold and removes its staged media. The sweep does what fails
 * here.
 */
export async function refuseCreate(
  deps: Deps,
  task: NewTask,
  { error, isHeld, span }: { readonly error: unknown; readonly isHeld: boolean; readonly span: Span },
): Promise<void> {
  const { id: taskId } = task;
  const failure = toFailure(error);
  const at = deps.clock.now();
  const refused = await deps.store.refuse(taskId, failure, at).catch((fault: unknown) => {
    // While the database is away, only this process knows that no upstream accepted the order.
    deps.creating.set(taskId, 'given_up');
    throw nothingBegun(fault);
  });
  // Another process may have decided over the task, and kept it with its hold.
  if (!refused) return;
  deps.log.info({ taskId, code: failure.code }, 'a create was refused');
  await writeTaskSpan(deps, task, { state: 'failed', at, code: failure.code });
  try {
    // No media are staged before the hold. Billing may have placed the hold although the call failed.
    if (isHeld) await releaseRefused(deps, task, span);
    else await deps.billing.releaseHold(taskId, { span });
    await deps.store.markSettled([taskId], deps.clock.now());
  } catch (failed) {
    deps.log.warn({ taskId, err: failed }, 'the hold and the media of a refused create could not be released yet');
  }
}

function toFailure(error: unknown): Failure {
  if (error instanceof CallEnded)
    return { code: 'caller_left', message: 'the caller disconnected and had sent no Idempotency-Key' };
  const problem = error instanceof Problem ? error : undefined;
  return { code: problem?.reason ?? 'internal_error', message: problem?.message ?? 'internal error' };
}
