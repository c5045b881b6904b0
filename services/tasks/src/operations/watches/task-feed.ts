import type { Task } from '../../domain/task.ts';
import { taskNotFound } from '../task-refusals.ts';
import { openNotifier } from './notifier.ts';
import type { Notifier } from './notifier.ts';

/** The change that one watch of one task has not taken yet: at most the newest version. */
export interface TaskFeed extends Notifier {
  readonly accountId: string;
  /**
   * The newest version, once; undefined if there is none since the last call. Throws if the task does not exist for the
   * account, or if its first read failed.
   */
  take(): Task | undefined;
  /** A version that was read from the store, or undefined if the store has no such task for any owner. */
  offer(task: Task | undefined): void;
  fail(error: unknown): void;
}

export function openTaskFeed(accountId: string): TaskFeed {
  const { notify, wait } = openNotifier();
  let known = Number.NEGATIVE_INFINITY;
  let newest: Task | undefined;
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
    notify();
  };
  return {
    accountId,
    notify,
    wait,
    fail,
    take: () => {
      const task = newest;
      newest = undefined;
      // The last version comes before the failure.
      if (task === undefined && failure !== undefined) throw failure.error;
      return task;
    },
    offer: (task) => {
      if (task?.accountId !== accountId) {
        fail(taskNotFound());
        return;
      }
      if (task.updatedAt === known) return;
      known = task.updatedAt;
      newest = task;
      notify();
    },
  };
}
