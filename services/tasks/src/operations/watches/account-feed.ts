import type { Task } from '../../domain/task.ts';
import { matchesFilter } from '../../domain/task.ts';
import type { ChangeFilter } from '../../store/task-store.ts';
import { openNotifier } from './notifier.ts';
import type { Notifier } from './notifier.ts';

/** Tasks that one slow reader may leave waiting. Beyond it they are dropped, and read again when it goes on. */
const WAITING_MAX = 1000;

/** A task that has changed. Everything that changed before `since` has been taken. */
export interface TakenChange {
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
export function openAccountFeed(filter: ChangeFilter, completeUpTo: () => number): AccountFeed {
  const { notify, wait } = openNotifier();
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
