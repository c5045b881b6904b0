import type { Task } from '../../domain/task.ts';
import type { Change } from '../../store/task-store.ts';
import type { AccountFeed } from './account-feed.ts';

/** Changes that are remembered as delivered. The sweep delivers a forgotten one again. */
const DELIVERED_MAX = 100_000;

/** The accounts whose tasks are watched, each with its watches. */
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
  /** Forgets what was delivered of changes before a time, which no sweep finds again. */
  forgetBefore(at: number): void;
}

export function openWatchedAccounts(): WatchedAccounts {
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
