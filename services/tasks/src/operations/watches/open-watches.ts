import type { Clock } from '@reelgate/platform/clock';
import type { Task } from '../../domain/task.ts';
import type { Notifier } from './feeds.ts';

/**
 * The interval in milliseconds at which a watch without changes shows that it is alive. The contract says 15 seconds
 * at most. The rest is for a busy process.
 */
const HEARTBEAT_MS = 10_000;

export type WatchMethod = 'WatchTask' | 'WatchTasks' | 'WatchEvents';

/** A message of a watch. Without a task it is a heartbeat. */
export interface WatchMessage {
  readonly task?: Task | undefined;
  readonly cursor: string;
}

/** The open watches of this process and their heartbeats. One timer serves all of them. */
export interface OpenWatches {
  open(method: WatchMethod, feed: Notifier, signal: AbortSignal): OpenWatch;
  /** Wakes each watch that is due for a heartbeat. Returns the time at which the next heartbeat is due. */
  pass(): number;
  count(method: WatchMethod): number;
}

/** One watch, for its reader. */
export interface OpenWatch {
  /** Resolves when the feed has something, or when the heartbeat is due. Throws when the stream has ended. */
  wait(): Promise<void>;
  /** Notes that a message is sent: the next heartbeat is due a while later. */
  sending(): void;
  isHeartbeatDue(): boolean;
  close(): void;
}

export function newOpenWatches(clock: Clock): OpenWatches {
  const watches = new Set<{ readonly method: WatchMethod; readonly feed: Notifier; dueAt: number }>();
  return {
    open: (method, feed, signal) => {
      const watch = { method, feed, dueAt: clock.now() + HEARTBEAT_MS };
      watches.add(watch);
      signal.addEventListener('abort', feed.notify, { once: true });
      return {
        wait: async () => {
          signal.throwIfAborted();
          await feed.wait();
          signal.throwIfAborted();
        },
        sending: () => {
          watch.dueAt = clock.now() + HEARTBEAT_MS;
        },
        isHeartbeatDue: () => clock.now() >= watch.dueAt,
        close: () => {
          signal.removeEventListener('abort', feed.notify);
          watches.delete(watch);
        },
      };
    },
    pass: () => {
      const now = clock.now();
      // a watch that opens from now on is due later
      let next = now + HEARTBEAT_MS;
      for (const { feed, dueAt } of watches)
        if (now >= dueAt) feed.notify();
        else next = Math.min(next, dueAt);
      return next;
    },
    count: (method) => watches.values().reduce((sum, watch) => sum + (watch.method === method ? 1 : 0), 0),
  };
}
