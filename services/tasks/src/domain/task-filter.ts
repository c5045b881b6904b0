import type { Kind } from './order.ts';
import type { State, Task } from './task.ts';

/** What every list and every watch of tasks can be narrowed by. An absent member, and an empty list, match any task. */
export interface TaskFilter {
  readonly accountId?: string | undefined;
  readonly states?: readonly State[] | undefined;
  readonly model?: string | undefined;
  readonly kind?: Kind | undefined;
}

type Match<T> = (wanted: NonNullable<T>, task: Task) => boolean;

const MATCHES: { readonly [F in keyof Required<TaskFilter>]: Match<TaskFilter[F]> } = {
  accountId: (wanted, task) => task.accountId === wanted,
  states: (wanted, task) => wanted.length === 0 || wanted.includes(task.state),
  model: (wanted, task) => task.order.model === wanted,
  kind: (wanted, task) => task.order.kind === wanted,
};

/** Decides for a task in memory as the store does for its rows. */
export function matchesFilter(filter: TaskFilter, task: Task): boolean {
  const matches = <F extends keyof TaskFilter>(member: F): boolean => {
    const wanted = filter[member];
    const match: Match<TaskFilter[F]> = MATCHES[member];
    return wanted === undefined || match(wanted, task);
  };
  return (Object.keys(MATCHES) as (keyof TaskFilter)[]).every(matches);
}
