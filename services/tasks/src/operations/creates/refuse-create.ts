import { CallEnded } from '@reelgate/platform/call-ended';
import { Problem } from '@reelgate/platform/problem';
import { nothingBegun } from '@reelgate/platform/service-unavailable';
import type { Failure } from '../../domain/task.ts';
import type { NewTask } from '../../store/task-store.ts';
import type { Deps } from '../deps.ts';
import { releaseRefused } from '../ends/settle-task.ts';

/**
 * Hides a create that no upstream accepted, releases its hold and removes its staged media. The sweep does what fails
 * here.
 */
export async function refuseCreate(
  deps: Deps,
  task: NewTask,
  { error, isHeld }: { readonly error: unknown; readonly isHeld: boolean },
): Promise<void> {
  const { id: taskId } = task;
  const failure = failureOf(error);
  const refused = await deps.store.refuse(taskId, failure, deps.clock.now()).catch((fault: unknown) => {
    // While the database is away, only this process knows that no upstream accepted the order.
    deps.creating.set(taskId, 'given_up');
    throw nothingBegun(fault);
  });
  // Another process may have decided over the task, and kept it with its hold.
  if (!refused) return;
  try {
    // No media are staged before the hold. Billing may have placed the hold although the call failed.
    if (isHeld) await releaseRefused(deps, task);
    else await deps.billing.releaseHold(taskId);
    await deps.store.markSettled(taskId, deps.clock.now());
  } catch (failed) {
    deps.log.warn({ taskId, err: failed }, 'the hold and the media of a refused create could not be released yet');
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof CallEnded)
    return { code: 'caller_left', message: 'the caller disconnected and had sent no Idempotency-Key' };
  const problem = error instanceof Problem ? error : undefined;
  return { code: problem?.reason ?? 'internal_error', message: problem?.message ?? 'internal error' };
}
