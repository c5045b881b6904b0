import { errorBackoff } from '../domain/poll-interval.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';

/** Nothing was learnt: the task stands as it did, and is looked at again later. Gives how often that has happened in a row. */
export async function postpone(deps: Pick<Deps, 'store' | 'clock' | 'pollPlan'>, task: Task, error: string): Promise<number> {
  const errors = task.pollErrors + 1;
  const at = deps.clock.now();
  await deps.store.progress(task.id, task.state, {
    state: task.state, upstreamStatus: task.upstreamStatus, unrecognised: task.unrecognised, progress: task.progress, pollErrors: errors, at, wasDueAt: task.nextPollAt,
    nextPollAt: at + errorBackoff(deps.pollPlan, errors),
  }, errors === 1 ? { type: 'look_failed', detail: { error } } : undefined);
  return errors;
}
