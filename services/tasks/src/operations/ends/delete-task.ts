import { listMedia } from '../../domain/order.ts';
import { isTerminal } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { notFinished, taskNotFound } from '../task-refusals.ts';

/**
 * Hides a finished task from its owner, and removes its result, its media, its prompt and the words of it for good. The
 * records of money and the history stay.
 */
export async function deleteTask(deps: Deps, accountId: string, taskId: string, signal?: AbortSignal): Promise<number> {
  const task = await deps.store.findOwned(accountId, taskId);
  if (task === undefined) {
    await announceAgain(deps, accountId, taskId);
    throw taskNotFound();
  }
  if (!isTerminal(task.state)) throw notFinished();
  signal?.throwIfAborted();
  const at = deps.clock.now();
  await deps.media.remove(taskId);
  if (listMedia(task.order).length > 0 || task.staged !== undefined)
    await deps.media.removeStaged({ accountId, taskId });
  await deps.store.remove(taskId, at);
  deps.announce(task);
  return at;
}

/** The process of an earlier call may have died after it had removed the task, and before it announced that. */
async function announceAgain({ store, announce }: Deps, accountId: string, taskId: string): Promise<void> {
  const removed = await store.find(taskId);
  if (removed?.accountId === accountId) announce(removed);
}
