import type { Task } from '../../src/domain/task.ts';
import { matchesFilter } from '../../src/domain/task.ts';
import type { ChangePosition, ChangeStore, TaskLister } from '../../src/store/task-store.ts';

/** Committed rows, and the reads of a watch as the SQL store answers them. */
export interface ChangesInMemory {
  readonly store: ChangeStore & TaskLister;
  find(taskId: string): Task | undefined;
  put(task: Task): Task;
  remove(taskId: string): void;
}

export function changesInMemory(): ChangesInMemory {
  const rows = new Map<string, Task>();
  const inOrder = (after: ChangePosition, limit: number, isMeant: (task: Task) => boolean): readonly Task[] =>
    [...rows.values()]
      .filter((task) => isMeant(task) && isAfter(task, after))
      .sort((one, other) => one.updatedAt - other.updatedAt || (one.id < other.id ? -1 : 1))
      .slice(0, limit);
  return {
    find: (taskId) => rows.get(taskId),
    put: (task) => {
      rows.set(task.id, task);
      return task;
    },
    remove: (taskId) => void rows.delete(taskId),
    store: {
      list: async ({ taskIds = [] }) => taskIds.flatMap((id) => rows.get(id) ?? []),
      versions: async (ids) =>
        new Map(ids.flatMap((id) => (rows.has(id) ? [[id, rows.get(id)!.updatedAt] as const] : []))),
      listChanges: async (accountIds, after, limit) =>
        inOrder(after, limit, ({ accountId }) => accountIds.includes(accountId)).map(({ id, updatedAt }) => ({
          id,
          version: updatedAt,
        })),
      listChangedTasks: async (filter, after, limit) => inOrder(after, limit, (task) => matchesFilter(filter, task)),
    },
  };
}

function isAfter({ updatedAt, id }: Task, after: ChangePosition): boolean {
  return updatedAt > after.at || (updatedAt === after.at && id > after.id);
}
