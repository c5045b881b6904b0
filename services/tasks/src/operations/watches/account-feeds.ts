import type { Task } from '../../domain/task.ts';
import { matchesFilter } from '../../domain/task.ts';
import type { Change, ChangeFilter } from '../../store/task-store.ts';
import { newNotifier } from './notifier.ts';
import type { Notifier } from './notifier.ts';

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
