import type { Task } from '../../domain/task.ts';
import { taskNotFound } from '../task-refusals.ts';
import { newNotifier } from './notifier.ts';
import type { Notifier } from './notifier.ts';

/** The tasks that are watched one by one, each with its watches. */
export interface WatchedTasks {
  has(taskId: string): boolean;
  ids(): Iterable<string>;
  /** The tasks with a watch that waits for its first read. */
  opening(): Iterable<string>;
  /** The version that the watches of a task have; undefined before the first read. */
  readVersion(taskId: string): number | undefined;
  /** The watch takes part in no read that has begun already, because that may show an older version than its cursor. */
  open(taskId: string, feed: TaskFeed): void;
  close(taskId: string, feed: TaskFeed): void;
  /** Lets the new watches of a task take part in the read that begins now, and returns them. */
  beginRead(taskId: string): readonly TaskFeed[];
  deliver(taskId: string, task: Task | undefined): void;
}

export function newWatchedTasks(): WatchedTasks {
  const watched = new Map<string, { version: number | undefined; readonly feeds: Set<TaskFeed> }>();
  const opening = new Map<string, Set<TaskFeed>>();
  return {
    has: (taskId) => watched.has(taskId),
    ids: () => watched.keys(),
    opening: () => opening.keys(),
    readVersion: (taskId) => watched.get(taskId)?.version,
    open: (taskId, feed) => {
      const feeds = opening.get(taskId);
      if (feeds === undefined) opening.set(taskId, new Set([feed]));
      else feeds.add(feed);
    },
    close: (taskId, feed) => {
      const begun = watched.get(taskId)?.feeds;
      if (begun?.delete(feed) === true && begun.size === 0) watched.delete(taskId);
      const waiting = opening.get(taskId);
      if (waiting?.delete(feed) === true && waiting.size === 0) opening.delete(taskId);
    },
    beginRead: (taskId) => {
      const feeds = [...(opening.get(taskId) ?? [])];
      if (feeds.length === 0) return feeds;
      opening.delete(taskId);
      const task = watched.get(taskId) ?? { version: undefined, feeds: new Set() };
      watched.set(taskId, task);
      for (const feed of feeds) task.feeds.add(feed);
      return feeds;
    },
    deliver: (taskId, task) => {
      const to = watched.get(taskId);
      if (to === undefined) return;
      to.version = task?.updatedAt;
      for (const feed of to.feeds) feed.offer(task);
    },
  };
}

/** The change that one watch of one task has not taken yet: at most the newest version. */
export interface TaskFeed extends Notifier {
  readonly accountId: string;
  /**
   * Returns the newest version, once, or undefined if there is no new version since the last call. Throws if the task
   * does not exist for the account, or if its first read failed.
   */
  take(): Task | undefined;
  /** A version that was read from the store, or undefined if the store has no such task for any owner. */
  offer(task: Task | undefined): void;
  fail(error: unknown): void;
}

export function newTaskFeed(accountId: string): TaskFeed {
  const { notify, wait } = newNotifier();
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
