import { tasksMax } from './limits.ts';
import type { Task } from './task-life.ts';
import { isFinished, isReadable, findPhase } from './task-life.ts';
import type { TaskStore } from './sandbox-task-store.ts';

/** The tasks of the sandbox's one account. */
export type TaskBook = {
  /** Resolves once the task is kept, with false if the book is full of unfinished tasks. */
  add(task: Task): Promise<boolean>;
  /** The tasks that can still be read. */
  find(id: string): Task | undefined;
  change(id: string, part: Partial<Omit<Task, 'id'>>): void;
  remove(id: string): void;
  newestFirst(): readonly Task[];
};

export type TaskBookParts = {
  readonly now: () => number;
  readonly store: TaskStore;
  readonly report: (fault: unknown) => void;
  readonly max?: number;
};

/**
 * Begins with the tasks of the store. A task is in the store before it can be read, or its create fails. A
 * later change that the store cannot take, as on a full disk, is reported and lasts as long as the process.
 */
export function taskBook({ now, store, report, max = tasksMax }: TaskBookParts): TaskBook {
  const tasks = new Map(store.tasks.map((task) => [task.id, task]));
  let adding = 0;
  const remove = (id: string): void => {
    tasks.delete(id);
    void store.remove(id).catch(report);
  };
  const dropUnreadable = (): void => {
    for (const task of tasks.values()) {
      // the oldest come first
      if (isReadable(task, now())) return;
      remove(task.id);
    }
  };
  const makeRoom = (): boolean => {
    dropUnreadable();
    if (tasks.size + adding < max) return true;
    const oldest = [...tasks.values()].find((task) => isFinished(findPhase(task, now())));
    if (oldest !== undefined) remove(oldest.id);
    return oldest !== undefined;
  };
  dropUnreadable();
  return {
    add: async (task) => {
      if (!makeRoom()) return false;
      adding += 1;
      try {
        await store.add(task);
      } finally {
        adding -= 1;
      }
      tasks.set(task.id, task);
      return true;
    },
    find: (id) => {
      const task = tasks.get(id);
      return task !== undefined && isReadable(task, now()) ? task : undefined;
    },
    change: (id, part) => {
      const task = tasks.get(id);
      if (task === undefined) return;
      const changed = { ...task, ...part };
      tasks.set(id, changed);
      void store.change(changed).catch(report);
    },
    remove,
    newestFirst: () => [...tasks.values()].filter((task) => isReadable(task, now())).reverse(),
  };
}
