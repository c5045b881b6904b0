import { listMedia } from '../../domain/order.ts';
import { isTerminal } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { getTask } from '../reads/read-tasks.ts';
import { notFinished } from '../task-refusals.ts';

/**
 * Hides a finished task from its owner, and removes its result, its media, its prompt and the words of it for good. The
 * records of money and the history stay.
 */
export async function deleteTask(deps: Deps, accountId: string, taskId: string, signal?: AbortSignal): Promise<number> {
  const task = await getTask(deps, accountId, taskId);
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
