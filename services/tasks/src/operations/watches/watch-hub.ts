import type { Clock } from '@reelgate/platform/clock';
import { NOTHING_DUE } from '@reelgate/platform/lifecycle/worker';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import type { ChangeFilter, ChangePosition, TaskLister, VersionReader } from '../../store/task-store.ts';
import { newAccountFeed, newWatchedAccounts, newTaskFeed, newWatchedTasks } from './feeds.ts';
import type { AccountFeed, WatchedAccounts, TaskFeed, WatchedTasks } from './feeds.ts';

/** Tasks that one SELECT reads. */
const READ_MAX = 200;
/** Accounts that one SELECT asks for changes, and changes that it returns. */
const ACCOUNTS_MAX = 200;
const CHANGES_MAX = 1000;
/** Hints that wait for their read. The sweep finds the tasks of further hints. */
const HINTS_MAX = 10_000;
/** Maximum time in milliseconds for which a change stays unseen if its announcement was lost. */
const SWEEP_MS = 3000;
/** A change can appear this long after its own time: the clocks of processes differ, and transactions take time. */
export const OVERLAP_MS = 60_000;

/**
 * The watches of this process. They share their reads: an announcement says which task to read, and a sweep finds
 * changes without an announcement. After its beginning a watch costs no read of its own.
 */
export interface WatchHub {
  /** The first version that the feed gives comes from a read that begins after this call. */
  openTask(accountId: string, taskId: string): TaskFeed;
  closeTask(taskId: string, feed: TaskFeed): void;
  /** The feed gives every change that appears after this call has resolved. */
  openAccount(filter: ChangeFilter): Promise<AccountFeed>;
  closeAccount(feed: AccountFeed): void;
  /** A task may have changed. */
  hint(task: { readonly taskId: string; readonly accountId: string }): void;
  /** Resolves when the read that is under way has been delivered. */
  waitForDelivery(): Promise<void>;
  /**
   * Reads a batch of the hinted tasks, and sweeps when it is time. Returns how many tasks still wait for a read; if no
   * task waits, when the next sweep is due.
   */
  pass(): Promise<PassResult>;
}

export interface HubDeps {
  readonly store: VersionReader & TaskLister;
  readonly clock: Clock;
  /** Starts a pass at once. */
  readonly wake: () => void;
}

interface HubState extends HubDeps {
  readonly tasks: WatchedTasks;
  readonly accounts: WatchedAccounts;
  readonly hints: Set<string>;
  /** Every change before this time has been delivered. */
  sweptAt: number;
  reading: Promise<void>;
}

export function newWatchHub(deps: HubDeps): WatchHub {
  const { clock, wake } = deps;
  const state: HubState = {
    ...deps,
    tasks: newWatchedTasks(),
    accounts: newWatchedAccounts(),
    hints: new Set(),
    sweptAt: clock.now(),
    reading: Promise.resolve(),
  };
  const { tasks, accounts, hints } = state;
  return {
    openTask: (accountId, taskId) => {
      const feed = newTaskFeed(accountId);
      tasks.open(taskId, feed);
      wake();
      return feed;
    },
    closeTask: (taskId, feed) => tasks.close(taskId, feed),
    openAccount: (filter) => openAccount(state, filter),
    closeAccount: (feed) => accounts.close(feed),
    hint: ({ taskId, accountId }) => {
      if (hints.size >= HINTS_MAX || !(tasks.has(taskId) || accounts.has(accountId))) return;
      hints.add(taskId);
      wake();
    },
    waitForDelivery: () => state.reading.catch(() => undefined),
    pass: async () => {
      const ids = [...new Set([...takeFirst(READ_MAX, tasks.opening()), ...hints])].slice(0, READ_MAX);
      if (ids.length > 0) await read(state, ids);
      const age = clock.now() - state.sweptAt;
      if (age >= SWEEP_MS || age < 0) await sweep(state);
      const waiting = hints.size + takeFirst(1, tasks.opening()).length;
      if (waiting > 0) return waiting;
      const isWatching = takeFirst(1, tasks.ids()).length + takeFirst(1, accounts.ids()).length > 0;
      return isWatching ? { dueAt: state.sweptAt + SWEEP_MS } : NOTHING_DUE;
    },
  };
}

async function openAccount(state: HubState, filter: ChangeFilter): Promise<AccountFeed> {
  const { accounts, clock } = state;
  const openedAt = clock.now();
  if (!accounts.has(filter.accountId)) await skipEarlier(state, filter.accountId);
  const feed = newAccountFeed(filter, () => Math.min(clock.now(), Math.max(openedAt, state.sweptAt)));
  accounts.open(feed);
  state.wake();
  return feed;
}

/** Keeps the sweep from reporting changes from shortly before the first watch of an account. */
async function skipEarlier(state: HubState, accountId: string): Promise<void> {
  const { store, accounts } = state;
  for await (const changes of readChanges(store, [accountId], computeSweepStart(state))) {
    // Another watch has been opened in the meantime, and these changes may be news to it.
    if (accounts.has(accountId)) return;
    for (const change of changes) accounts.skip(change);
  }
}

function read(state: HubState, ids: readonly string[]): Promise<void> {
  state.reading = readAndDeliver(state, ids);
  return state.reading;
}

async function readAndDeliver({ store, tasks, accounts, hints }: HubState, ids: readonly string[]): Promise<void> {
  const opened = ids.flatMap((id) => tasks.beginRead(id));
  for (const id of ids) hints.delete(id);
  try {
    const found = new Map((await store.list({ taskIds: ids }, { limit: ids.length })).map((task) => [task.id, task]));
    for (const id of ids) tasks.deliver(id, found.get(id));
    for (const task of found.values()) accounts.deliver(task);
  } catch (error) {
    // A watch that has begun waits for the next read; a new watch is notified.
    for (const feed of opened) feed.fail(error);
    for (const id of ids) hints.add(id);
    throw error;
  }
}

/** Reads the changes that were not announced. */
async function sweep(state: HubState): Promise<void> {
  const { store, clock, tasks, accounts } = state;
  const begunAt = clock.now();
  const since = computeSweepStart(state);
  for (const ids of chunks(READ_MAX, tasks.ids())) {
    const versions = await store.versions(ids);
    await readAll(
      state,
      ids.filter((id) => tasks.has(id) && versions.get(id) !== tasks.readVersion(id)),
    );
  }
  for (const accountIds of chunks(ACCOUNTS_MAX, accounts.ids())) await sweepAccounts(state, accountIds, since);
  state.sweptAt = begunAt;
  accounts.forgetBefore(since);
}

/** If the clock was set back, the new changes are older than the last sweep. */
function computeSweepStart({ sweptAt, clock }: HubState): number {
  return Math.min(sweptAt, clock.now()) - OVERLAP_MS;
}

async function sweepAccounts(state: HubState, accountIds: readonly string[], since: number): Promise<void> {
  for await (const changes of readChanges(state.store, accountIds, since))
    await readAll(
      state,
      changes.filter((change) => !state.accounts.isDelivered(change)).map(({ id }) => id),
    );
}

/** The changes of accounts since a time, a page after the other. */
async function* readChanges(
  store: HubState['store'],
  accountIds: readonly string[],
  since: number,
): AsyncGenerator<Awaited<ReturnType<HubState['store']['listChanges']>>> {
  let after: ChangePosition = { at: since, id: '' };
  for (;;) {
    const changes = await store.listChanges(accountIds, after, CHANGES_MAX);
    yield changes;
    const last = changes.at(-1);
    if (last === undefined || changes.length < CHANGES_MAX) return;
    after = { at: last.version, id: last.id };
  }
}

async function readAll(state: HubState, ids: readonly string[]): Promise<void> {
  for (const batch of chunks(READ_MAX, ids)) await read(state, batch);
}

function takeFirst<T>(count: number, of: Iterable<T>): readonly T[] {
  return [...Iterator.from(of).take(count)];
}

/** Of the elements now: later ones are not among them. */
function chunks<T>(size: number, of: Iterable<T>): readonly (readonly T[])[] {
  const all = [...of];
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
