import { tasksMax } from './limits.ts';
import type { Task } from './task.ts';
import { isFinished, isReadable, phaseOf } from './task-life.ts';

/** The tasks of the sandbox's one account, in memory. */
export type TaskBook = {
  /** Returns false if the book is full of unfinished tasks. */
  add(task: Task): boolean;
  /** The tasks that can still be read. */
  find(id: string): Task | undefined;
  change(id: string, part: Partial<Omit<Task, 'id'>>): void;
  remove(id: string): void;
  newestFirst(): readonly Task[];
};

export function taskBook(now: () => number, max = tasksMax): TaskBook {
  const tasks = new Map<string, Task>();
  const makeRoom = (): boolean => {
    if (tasks.size < max) return true;
    const oldest = [...tasks.values()].find((task) => isFinished(phaseOf(task, now())) || !isReadable(task, now()));
    return oldest !== undefined && tasks.delete(oldest.id);
  };
  return {
    add: (task) => makeRoom() && Boolean(tasks.set(task.id, task)),
    find: (id) => {
      const task = tasks.get(id);
      return task !== undefined && isReadable(task, now()) ? task : undefined;
    },
    change: (id, part) => {
      const task = tasks.get(id);
      if (task !== undefined) tasks.set(id, { ...task, ...part });
    },
    remove: (id) => {
      tasks.delete(id);
    },
    newestFirst: () => [...tasks.values()].filter((task) => isReadable(task, now())).reverse(),
  };
}
