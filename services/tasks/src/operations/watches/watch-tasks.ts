import { isTerminal } from '../../domain/task.ts';
import type { State, Task } from '../../domain/task.ts';
import type { ChangeFilter, ChangePosition, ChangedTaskLister } from '../../store/task-store.ts';
import type { AccountFeed } from './feeds.ts';
import type { OpenWatch, OpenWatches, WatchMessage } from './open-watches.ts';
import { OVERLAP_MS } from './watch-hub.ts';
import type { WatchHub } from './watch-hub.ts';
import type { Problem } from '@reelgate/platform/problem';
import { refuse } from '../../refusals.ts';

export interface TaskWatchDeps {
  readonly hub: WatchHub;
  readonly watches: OpenWatches;
}

interface TaskWatch {
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

/** The position at which a watch of an account goes on: everything that changed before `since` has been sent. */
interface AccountCursor {
  readonly since: number;
  /** Set while the unfinished tasks of the beginning are being sent: those up to here have been sent. */
  readonly sentUpTo?: ChangePosition | undefined;
}

const LENGTH_MAX = 200;
/** The first character names the version of the form. */
const TASK = /^1t([0-9a-z]{1,11})$/;
const ACCOUNT = /^1a([0-9a-z]{1,11})(?:,([0-9a-z]{1,11}),([0-9a-z_]{0,64}))?$/;
const NUMBERS = 36;

/** The cursor of a task is its version. */
function toTaskCursor(version: number): string {
  return encodeCursor(`1t${version.toString(NUMBERS)}`);
}

function fromTaskCursor(cursor: string): number | undefined {
  if (cursor === '') return undefined;
  const [, version] = TASK.exec(decodeCursor(cursor)) ?? [];
  if (version === undefined) throw badCursor('WatchTask');
  return Number.parseInt(version, NUMBERS);
}

function toAccountCursor({ since, sentUpTo }: AccountCursor): string {
  const beginning = sentUpTo === undefined ? '' : `,${sentUpTo.at.toString(NUMBERS)},${sentUpTo.id}`;
  return encodeCursor(`1a${since.toString(NUMBERS)}${beginning}`);
}

function fromAccountCursor(cursor: string): AccountCursor | undefined {
  if (cursor === '') return undefined;
  const [, since, at, id] = ACCOUNT.exec(decodeCursor(cursor)) ?? [];
  if (since === undefined) throw badCursor('WatchTasks');
  return {
    since: Number.parseInt(since, NUMBERS),
    sentUpTo: at === undefined ? undefined : { at: Number.parseInt(at, NUMBERS), id: id ?? '' },
  };
}

/** Keeps callers from reading a meaning into the text. */
function encodeCursor(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function decodeCursor(cursor: string): string {
  return cursor.length > LENGTH_MAX ? '' : Buffer.from(cursor, 'base64url').toString();
}

function badCursor(method: string): Problem {
  return refuse('invalid_request', {
    field: 'cursor',
    message: `must be empty or the cursor of an earlier message of ${method}`,
  });
}
