import type { Deps } from '../operations/deps.ts';
import { settleTask } from '../operations/settle-task.ts';

/** The event is given this long to do it first. */
const EVENT_HEAD_START_MS = 3000;
const BATCH_MAX = 100;

/** One pass over finished tasks whose money is not known to have moved. Gives how many it settled. */
export async function settleFinished(deps: Deps): Promise<number> {
  const tasks = await deps.store.unsettled(deps.clock.now() - EVENT_HEAD_START_MS, BATCH_MAX);
  const outcomes = await Promise.allSettled(tasks.map((task) => settleTask(deps, task)));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return tasks.length;
}
