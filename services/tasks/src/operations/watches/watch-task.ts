import { isTerminal } from '../../domain/task.ts';
import { fromTaskCursor, toTaskCursor } from './cursors.ts';
import type { OpenWatches, Watched } from './open-watches.ts';
import type { WatchHub } from './watch-hub.ts';

export interface TaskWatch {
  readonly accountId: string;
  readonly taskId: string;
  /** Of the last message that the caller has; empty: it has none. */
  readonly cursor: string;
}

/**
 * Gives the task now and after each change, and ends after its final state. If the cursor names the version of now, a
 * heartbeat says so. A slow reader gets the newest version alone. Throws if the task does not exist for the account.
 */
export async function* watchTask(
  { hub, watches }: { readonly hub: Pick<WatchHub, 'openTask' | 'closeTask'>; readonly watches: OpenWatches },
  { accountId, taskId, cursor }: TaskWatch,
  signal: AbortSignal,
): AsyncGenerator<Watched> {
  let version = fromTaskCursor(cursor);
  const feed = hub.openTask(accountId, taskId);
  const watch = watches.open('WatchTask', feed, signal);
  try {
    for (;;) {
      const task = feed.take();
      if (task !== undefined) {
        const isNew = task.updatedAt !== version;
        version = task.updatedAt;
        watch.sending();
        yield { task: isNew ? task : undefined, cursor: toTaskCursor(version) };
        if (isTerminal(task.state)) return;
      } else if (watch.isHeartbeatDue()) {
        watch.sending();
        yield { cursor: version === undefined ? '' : toTaskCursor(version) };
      } else await watch.wait();
    }
  } finally {
    watch.close();
    hub.closeTask(taskId, feed);
  }
}
