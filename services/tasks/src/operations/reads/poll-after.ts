import { isTerminal } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';

/** A caller that polls more often learns nothing sooner. */
const POLL_AFTER_MS_MIN = 1000;
/** For a task whose next poll of the upstream has no time, such as a new one, or is overdue. */
const POLL_AFTER_UNKNOWN_MS = 2000;

/**
 * Returns the milliseconds until a caller should read the task again; zero if the task is finished, because it no
 * longer changes.
 */
export function pollAfterMs({ state, nextPollAt }: Task, now: number): number {
  if (isTerminal(state)) return 0;
  if (nextPollAt === undefined || nextPollAt <= now) return POLL_AFTER_UNKNOWN_MS;
  return Math.max(POLL_AFTER_MS_MIN, nextPollAt - now);
}
