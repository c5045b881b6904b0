import { buildTimeline } from '../../domain/rules/timeline.ts';
import type { TimelineEntry } from '../../domain/rules/timeline.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { getTask } from './read-tasks.ts';

export interface Timeline {
  readonly task: Task;
  readonly entries: readonly TimelineEntry[];
}

/** The steps of a task, for its owner. For other accounts the task does not exist. */
export async function readTimeline(deps: Pick<Deps, 'store'>, accountId: string, taskId: string): Promise<Timeline> {
  const task = await getTask(deps, accountId, taskId);
  const [attempts, events] = await Promise.all([deps.store.attempts(task.id), deps.store.events(task.id)]);
  return { task, entries: buildTimeline({ task, attempts, events }) };
}
