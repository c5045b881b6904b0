import { settleTask } from '../operations/ends/settle-task.ts';
import type { Deps } from '../operations/deps.ts';
import type { Unsettled } from '../store/task-store.ts';

/** How long the event of a finished task has to settle it first. */
const EVENT_HEAD_START_MS = 3000;
const BATCH_MAX = 100;
const BACKOFF_FIRST_MS = 1000;
const BACKOFF_MAX_MS = 5 * 60_000;
const BACKOFF_DOUBLINGS_MAX = 10;

/**
 * One pass over finished tasks that are not settled. A settlement that fails waits longer each time, so it never blocks
 * the others. Returns how many tasks were settled.
 */
export async function settleFinished(deps: Deps): Promise<number> {
  const now = deps.clock.now();
  const tasks = await deps.store.unsettled({
    before: now - EVENT_HEAD_START_MS,
    beyond: now + BACKOFF_MAX_MS,
    limit: BATCH_MAX,
  });
  const settled = await Promise.all(tasks.map((task) => trySettle(deps, task)));
  return settled.filter(Boolean).length;
}

async function trySettle(deps: Deps, task: Unsettled): Promise<boolean> {
  try {
    await settleTask(deps, task);
    return true;
  } catch (error) {
    deps.log.error(
      { taskId: task.id, failures: task.settleFailures + 1, err: error },
      'a finished task could not be settled',
    );
    await deps.store.putOffSettlement(
      task.id,
      deps.clock.now() - EVENT_HEAD_START_MS + settleBackoff(task.settleFailures),
    );
    return false;
  }
}

function settleBackoff(failures: number): number {
  return Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** Math.min(failures, BACKOFF_DOUBLINGS_MAX));
}
