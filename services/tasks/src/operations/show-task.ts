import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';

/** Tells and counts that the owner of a task can see it from now on: an upstream has accepted it, or may have. */
export function showTask({ announce, count }: Pick<Deps, 'announce' | 'count'>, task: Task): void {
  announce(task);
  count.created(task);
}
