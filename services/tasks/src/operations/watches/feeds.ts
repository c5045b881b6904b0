import { matchesFilter } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import type { Change, ChangeFilter } from '../../store/task-store.ts';
import { taskNotFound } from '../task-refusals.ts';

/** Wakes the one reader of a stream. A notification that comes before the reader waits is kept. */
export interface Notifier {
  readonly notify: () => void;
  /** Resolves at the next notification. */
  readonly wait: () => Promise<void>;
}

export function newNotifier(): Notifier {
  let isNotified = false;
  let wake: (() => void) | undefined;
  return {
    notify: () => {
      isNotified = true;
      wake?.();
    },
    wait: async () => {
      if (!isNotified)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      isNotified = false;
      wake = undefined;
    },
  };
}

/** Tasks that one slow reader may leave waiting. Beyond it they are dropped, and read again when it goes on. */
const WAITING_MAX = 1000;

/** Changes that are remembered as delivered. The sweep delivers a forgotten one again. */
const DELIVERED_MAX = 100_000;

/** The accounts with watched tasks, each with its watches. */
export interface WatchedAccounts {
  has(accountId: string): boolean;
  ids(): Iterable<string>;
  feeds(): Iterable<AccountFeed>;
  open(feed: AccountFeed): void;
  close(feed: AccountFeed): void;
  /** Takes a change for delivered, because it is older than every watch of its account. */
  skip(change: Change): void;
  isDelivered(change: Change): boolean;
  deliver(task: Task): void;
  /** Forgets the deliveries of changes before a time, which no sweep finds again. */
  forgetBefore(at: number): void;
}

export function newWatchedAccounts(): WatchedAccounts {
  const watched = new Map<string, Set<AccountFeed>>();
  const delivered = new Map<string, number>();
  const remember = ({ id, version }: Change): void => {
    delivered.set(id, version);
    const [oldest] = delivered.keys();
    if (delivered.size > DELIVERED_MAX && oldest !== undefined) delivered.delete(oldest);
  };
  return {
    has: (accountId) => watched.has(accountId),
    ids: () => watched.keys(),
    feeds: () => watched.values().flatMap((feeds) => feeds.values()),
    open: (feed) => {
      const { accountId } = feed.filter;
      const feeds = watched.get(accountId);
      if (feeds === undefined) watched.set(accountId, new Set([feed]));
      else feeds.add(feed);
    },
    close: (feed) => {
      const { accountId } = feed.filter;
      const feeds = watched.get(accountId);
      if (feeds?.delete(feed) === true && feeds.size === 0) watched.delete(accountId);
    },
    skip: remember,
    isDelivered: ({ id, version }) => delivered.get(id) === version,
    deliver: (task) => {
      const feeds = watched.get(task.accountId);
      const change = { id: task.id, version: task.updatedAt };
      if (feeds === undefined || delivered.get(change.id) === change.version) return;
      remember(change);
      for (const feed of feeds) feed.offer(task);
    },
    forgetBefore: (at) => {
      for (const [id, version] of delivered) if (version < at) delivered.delete(id);
    },
  };
}

/** A task that has changed. Everything that changed before `since` has been taken. */
interface TakenChange {
  readonly task: Task;
  readonly since: number;
}

/** The changes that one watch of an account has not taken yet: the newest version of each task that changed. */
export interface AccountFeed extends Notifier {
  readonly filter: ChangeFilter;
  /** Everything that changed before this time has been taken. */
  since(): number;
  /** The change that has waited longest. */
  take(): TakenChange | undefined;
  /**
   * If changes were dropped: the time from which the reader reads them again. From the call on changes wait here again.
   */
  catchUp(): number | undefined;
  offer(task: Task): void;
  /** The reader has sent this version by itself: older ones need not follow. */
  markSent(task: Task): void;
}

/** `completeUpTo`: everything that changed before this time has been offered. */
export function newAccountFeed(filter: ChangeFilter, completeUpTo: () => number): AccountFeed {
  const { notify, wait } = newNotifier();
  const waiting = new Map<string, TakenChange>();
  let droppedSince: number | undefined;
  const since = (): number => {
    const [oldest] = waiting.values();
    return droppedSince ?? oldest?.since ?? completeUpTo();
  };
  return {
    filter,
    notify,
    wait,
    since,
    take: () => {
      const [oldest] = waiting.values();
      if (oldest === undefined) return undefined;
      waiting.delete(oldest.task.id);
      return { task: oldest.task, since: since() };
    },
    catchUp: () => {
      const from = droppedSince;
      droppedSince = undefined;
      return from;
    },
    offer: (task) => {
      if (droppedSince !== undefined) return;
      if (!matchesFilter(filter, task)) {
        // The version that waits is no longer the newest.
        waiting.delete(task.id);
        return;
      }
      waiting.set(task.id, { task, since: waiting.get(task.id)?.since ?? completeUpTo() });
      if (waiting.size > WAITING_MAX) {
        droppedSince = since();
        waiting.clear();
      }
      notify();
    },
    markSent: ({ id, updatedAt }) => {
      const held = waiting.get(id);
      if (held !== undefined && held.task.updatedAt <= updatedAt) waiting.delete(id);
    },
  };
}

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
