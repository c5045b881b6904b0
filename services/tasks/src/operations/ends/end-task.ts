import type { Task } from '../../domain/task.ts';
import type { Finish } from '../../store/task-store.ts';
import type { Deps } from '../deps.ts';

/**
 * Ends a task, once, and returns whether this call ended it. The store writes the event with the row and closes the
 * attention. The announcements only make waiting clients faster.
 */
export async function endTask(
  deps: Pick<Deps, 'store' | 'announce' | 'wake' | 'count' | 'log'>,
  task: Task,
  finish: Finish,
): Promise<boolean> {
  const won = await deps.store.finish(task.id, finish);
  if (!won) return false;
  deps.announce({ id: task.id, accountId: task.accountId, state: finish.state });
  deps.count.finished(task.order.kind, finish.state);
  deps.log.info({ taskId: task.id, state: finish.state, channel: task.mapping?.channel }, 'a task ended');
  deps.wake.outbox();
  return true;
}
