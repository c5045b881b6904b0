import type { State, Task } from '../../domain/task.ts';
import { isTerminal } from '../../domain/task.ts';
import type { ChangeFilter, ChangePosition, ChangedTaskLister } from '../../store/task-store.ts';
import type { AccountFeed } from './account-feeds.ts';
import { fromAccountCursor, toAccountCursor } from './cursors.ts';
import type { AccountCursor } from './cursors.ts';
import type { OpenWatch, OpenWatches, WatchMessage } from './open-watches.ts';
import { OVERLAP_MS } from './watch-hub.ts';
import type { WatchHub } from './watch-hub.ts';

/** Tasks that are read at once for a watch that begins or has fallen behind. */
const PAGE_MAX = 100;
const UNFINISHED: readonly State[] = ['queued', 'in_progress'];

export interface TasksWatchDeps {
  readonly hub: WatchHub;
  readonly store: ChangedTaskLister;
  readonly watches: OpenWatches;
  readonly count: { readonly fellBehind: () => void };
}

interface Stream extends TasksWatchDeps {
  readonly feed: AccountFeed;
  readonly watch: OpenWatch;
  readonly signal: AbortSignal;
}

/**
 * Yields the tasks of an account that match: without a cursor first the unfinished ones, with a cursor first the tasks
 * that have changed since; then a heartbeat, and each further change. A change may come twice, and no change is left
 * out. A slow reader gets the newest version of each task alone.
 */
export async function* watchTasks(
  deps: TasksWatchDeps,
  filter: ChangeFilter,
  cursor: string,
  signal: AbortSignal,
): AsyncGenerator<WatchMessage> {
  const from = fromAccountCursor(cursor);
  const feed = await deps.hub.openAccount(filter);
  const watch = deps.watches.open('WatchTasks', feed, signal);
  const stream = { ...deps, feed, watch, signal };
  try {
    if (from?.sentUpTo !== undefined || from === undefined)
      yield* streamUnfinished(stream, from ?? { since: feed.since() });
    if (from !== undefined) yield* streamChangesSince(stream, from.since);
    yield { cursor: toAccountCursor({ since: feed.since() }) };
    for (;;) yield* streamNext(stream);
  } finally {
    watch.close();
    deps.hub.closeAccount(feed);
  }
}

/** Yields the changes of the feed, or a heartbeat. Yields no message after a wait without either. */
async function* streamNext(stream: Stream): AsyncGenerator<WatchMessage> {
  const { feed, watch, count } = stream;
  const dropped = feed.catchUp();
  if (dropped !== undefined) {
    count.fellBehind();
    yield* streamChangesSince(stream, dropped);
    return;
  }
  const change = feed.take();
  if (change !== undefined) {
    watch.sending();
    yield { task: change.task, cursor: toAccountCursor(change) };
  } else if (watch.isHeartbeatDue()) {
    watch.sending();
    yield { cursor: toAccountCursor({ since: feed.since() }) };
  } else await watch.wait();
}

/** The cursors say how far the beginning has come, so that a resumed watch repeats the rest of it. */
async function* streamUnfinished(stream: Stream, { since, sentUpTo }: AccountCursor): AsyncGenerator<WatchMessage> {
  const { filter } = stream.feed;
  const asked = filter.states === undefined || filter.states.length === 0 ? UNFINISHED : filter.states;
  const states = asked.filter((state) => !isTerminal(state));
  if (states.length === 0) return;
  for await (const task of streamPages(stream, { ...filter, states }, sentUpTo ?? { at: 0, id: '' }))
    yield { task, cursor: toAccountCursor({ since, sentUpTo: toPosition(task) }) };
}

async function* streamChangesSince(stream: Stream, from: number): AsyncGenerator<WatchMessage> {
  const { feed } = stream;
  const upTo = feed.since();
  for await (const task of streamPages(stream, feed.filter, { at: Math.min(from, upTo) - OVERLAP_MS, id: '' })) {
    // Never earlier than the cursor of the caller: a watch that is interrupted again and again would go backwards.
    yield { task, cursor: toAccountCursor({ since: Math.max(from, Math.min(task.updatedAt, upTo)) }) };
  }
}

async function* streamPages(stream: Stream, filter: ChangeFilter, from: ChangePosition): AsyncGenerator<Task> {
  const { hub, store, feed, watch, signal } = stream;
  let after = from;
  for (;;) {
    const page = await store.listChangedTasks(filter, after, PAGE_MAX);
    // A read of the hub that began before this one may bring older versions; they must not follow the versions of the
    // page.
    await hub.waitForDelivery();
    signal.throwIfAborted();
    for (const task of page) {
      feed.markSent(task);
      watch.sending();
      yield task;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_MAX) return;
    after = toPosition(last);
  }
}

function toPosition({ updatedAt, id }: Task): ChangePosition {
  return { at: updatedAt, id };
}
