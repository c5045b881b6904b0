import { isTerminal } from '../../domain/task.ts';
import { fromTaskCursor, toTaskCursor } from './cursors.ts';
import type { OpenWatches, WatchMessage } from './open-watches.ts';
import type { WatchHub } from './watch-hub.ts';

export interface TaskWatchDeps {
  readonly hub: WatchHub;
  readonly watches: OpenWatches;
}

export interface TaskWatch {
  readonly accountId: string;
  readonly taskId: string;
  /** The cursor of the last message that the caller has. Empty if it has no message. */
  readonly cursor: string;
}

/**
 * Yields the task now and after each change, and ends after its final state. If the cursor names the current version, a
 * heartbeat follows. A slow reader gets the newest version alone. Throws if the task does not exist for the account.
 */
export async function* watchTask(
  { hub, watches }: TaskWatchDeps,
  { accountId, taskId, cursor }: TaskWatch,
  signal: AbortSignal,
): AsyncGenerator<WatchMessage> {
  let version = fromTaskCursor(cursor);
  const feed = hub.openTask(accountId, taskId);
  const watch = watches.open('WatchTask', feed, signal);
  try {
    for (let hasEnded = false; !hasEnded;) {
      const task = feed.take();
      if (task === undefined && !watch.isHeartbeatDue()) {
        await watch.wait();
        continue;
      }
      const isNew = task !== undefined && task.updatedAt !== version;
      version = task?.updatedAt ?? version;
      hasEnded = task !== undefined && isTerminal(task.state);
      watch.sending();
      yield { task: isNew ? task : undefined, cursor: version === undefined ? '' : toTaskCursor(version) };
    }
  } finally {
    watch.close();
    hub.closeTask(taskId, feed);
  }
}
