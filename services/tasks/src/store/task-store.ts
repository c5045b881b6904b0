import type { Order } from '../domain/order.ts';
import type { Doubt, Failure, Mapping, Result, StagedMedia, State, Task, Usage } from '../domain/task.ts';

/** A create before anything is submitted. */
export interface NewTask {
  readonly id: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly order: Order;
  readonly seconds: number;
  readonly createdAt: number;
  readonly owner: string;
  readonly idempotency?: { readonly key: string; readonly fingerprint: string; readonly expiresAt: number } | undefined;
  /** The counters that it stands in, each with the most that it may count. */
  readonly caps: readonly { readonly scope: string; readonly limit: number }[];
}

/** `capped` names the counter that is full; `key_taken` says that another call holds the idempotency key. */
export type Begun = 'begun' | 'key_taken' | { readonly capped: string };

export interface KeyRecord {
  readonly fingerprint: string;
  readonly taskId: string;
}

export interface Attempt {
  readonly number: number;
  readonly channel: string;
  readonly upstreamId?: string | undefined;
  readonly outcome: 'started' | 'accepted' | 'refused' | 'unknown';
  readonly error?: string | undefined;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
}

/** What is written of a task each time; `type` is a word for people. */
export interface Note {
  readonly type: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The end of a task. The event leaves with it or not at all. */
export interface Finish {
  readonly state: 'completed' | 'failed';
  readonly at: number;
  readonly upstreamStatus?: string | undefined;
  readonly result?: Result | undefined;
  readonly failure?: Failure | undefined;
  readonly usage?: Usage | undefined;
  readonly expiresAt?: number | undefined;
}

/** What a look at the upstream changes while the task goes on. */
export interface Progress {
  readonly state: State;
  readonly upstreamStatus?: string | undefined;
  readonly unrecognised: boolean;
  readonly progress: number;
  readonly pollErrors: number;
  readonly doubt?: Doubt | undefined;
  readonly nextPollAt: number;
  /** When the look was due. Where something made it due again meanwhile, the next look follows at once. */
  readonly wasDueAt?: number | undefined;
  readonly at: number;
}

/** Creates: what is durable before and after each call that leaves the process. */
export interface CreateStore {
  findKey(accountId: string, key: string, now: number): Promise<KeyRecord | undefined>;
  /** Writes the task, its key and its counters, or nothing; nothing either, and it throws, once the signal is aborted. */
  begin(task: NewTask, signal?: AbortSignal): Promise<Begun>;
  /** The order's measure, once its videos were probed. */
  measure(taskId: string, seconds: number): Promise<void>;
  /** What the order's media were frozen as, by the place of each in its content. */
  keepStaged(taskId: string, staged: Readonly<Record<number, StagedMedia>>): Promise<void>;
  /**
   * Writes an attempt as `started` before the upstream is called; false when the channel has its number in flight already. Throws when
   * the create is no longer this owner's: another process took it for dead, and has decided over it.
   */
  startAttempt(
    taskId: string,
    attempt: {
      readonly number: number;
      readonly owner: string;
      readonly channel: string;
      readonly inFlightMax: number;
      readonly at: number;
    },
  ): Promise<boolean>;
  /** Gives the task as it then stands, where this changed it. `id_known`: another task has that work upstream, and nothing was written. */
  accept(
    taskId: string,
    attempt: {
      readonly number: number;
      readonly mapping: Required<Mapping>;
      readonly at: number;
      readonly nextPollAt: number;
    },
  ): Promise<Task | 'id_known' | undefined>;
  /** This attempt did not succeed; the task may go on to another. */
  refuseAttempt(
    taskId: string,
    attempt: { readonly number: number; readonly channel: string; readonly error: string; readonly at: number },
  ): Promise<void>;
  /** The answer was lost: the task lives on, and is never submitted again by itself. Gives it where this changed it. */
  leaveUnknown(
    taskId: string,
    attempt: { readonly number: number; readonly mapping: Mapping; readonly error: string; readonly at: number },
  ): Promise<Task | undefined>;
  /** No upstream took it: hidden for ever, its key free again, its counters down. Says whether it was still being created. */
  refuse(taskId: string, failure: Failure, at: number): Promise<boolean>;
  /** Takes a create from the process that works on it, which can start no further attempt; says whether it was still being created. */
  disown(taskId: string): Promise<boolean>;
  /** An upstream id was found for a task whose submission was unknown; false when another task has it. */
  adopt(taskId: string, upstreamId: string, at: number): Promise<boolean>;
}

export interface ListFilter {
  readonly accountId?: string | undefined;
  readonly states?: readonly State[] | undefined;
  readonly taskIds?: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly kind?: string | undefined;
  /** Also what no client may see. */
  readonly hidden?: boolean | undefined;
}

export interface Page {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly offset?: number | undefined;
  readonly ascending?: boolean | undefined;
}

/** A finished task whose money has not moved yet, and how often that failed. */
export interface Unsettled extends Task {
  readonly settleFailures: number;
}

/** Reads of what is committed. */
export interface ReadStore {
  /** Whatever its admission. */
  find(taskId: string): Promise<Task | undefined>;
  /** Only what this account may see. */
  findOwned(accountId: string, taskId: string): Promise<Task | undefined>;
  list(filter: ListFilter, page: Page): Promise<readonly Task[]>;
  count(filter: ListFilter): Promise<number>;
  attempts(taskId: string): Promise<readonly Attempt[]>;
  events(
    taskId: string,
  ): Promise<readonly { readonly at: number; readonly type: string; readonly detailJson: string }[]>;
  inFlight(scope: string): Promise<number>;
  /** Creates that no living process works on: their owner is not among these. */
  abandoned(aliveOwners: readonly string[], limit: number): Promise<readonly Task[]>;
  /** The creates that are this process's. */
  submittedBy(owner: string, limit: number): Promise<readonly string[]>;
  /** Unfinished, in the order of their ids, behind this one. */
  withAdmission(
    admission: 'submitting' | 'unknown',
    page: { readonly limit: number; readonly after: string },
  ): Promise<readonly Task[]>;
  /**
   * Finished, not known to be settled, and to be asked about before a time; also after one that no task can rightly have, for then the
   * clock was set back.
   */
  unsettled(which: {
    readonly before: number;
    readonly beyond: number;
    readonly limit: number;
  }): Promise<readonly Unsettled[]>;
  knownUpstreamIds(upstreamAccount: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Changes of a task's state. */
export interface MoveStore {
  /** Takes due tasks of a channel for a process; until the lease ends nobody else takes them. */
  claimDue(
    channel: string,
    options: { readonly now: number; readonly leaseUntil: number; readonly limit: number; readonly owner: string },
  ): Promise<readonly Task[]>;
  /** Ends the leases of a process that looks no more. */
  dropLeases(owner: string): Promise<void>;
  /** The tasks of a channel that are leased to a process. */
  leasedBy(channel: string, owner: string): Promise<readonly string[]>;
  /** Ends the lease of one task, where it is this process's. */
  dropLease(taskId: string, owner: string): Promise<void>;
  /** Makes due what is due beyond a time that none can rightly have, for the clock was set back; gives how many, so many at most. */
  pullIn(
    channel: string,
    options: { readonly beyond: number; readonly to: number; readonly limit: number },
  ): Promise<number>;
  /** Writes what a look found, unless the task has ended; says whether it had not. */
  progress(taskId: string, from: State, to: Progress, note?: Note): Promise<boolean>;
  /** Compare-and-set from an unfinished state, with the event, the counters, the end of its attention and the note in one transaction; says whether it won. */
  finish(taskId: string, finish: Finish): Promise<boolean>;
  makeDue(taskId: string, at: number): Promise<void>;
  /** Something happened to the work: it is looked at before all others, or once more after the look that is under way. Says whether that was news. */
  pollSoon(taskId: string, at: number): Promise<boolean>;
  markSettled(taskId: string, at: number): Promise<void>;
  /** Its settlement failed: it is asked for again at this time, and others meanwhile. */
  putOffSettlement(taskId: string, to: number): Promise<void>;
  remove(taskId: string, at: number): Promise<boolean>;
}

export type Deadline = 'soft' | 'hard';

/** Tasks that take longer than they should. */
export interface DeadlineStore {
  /** Unfinished since before this time, and not known to be past the deadline. */
  late(deadline: Deadline, createdBefore: number, limit: number): Promise<readonly Task[]>;
  /**
   * Notes that an unfinished task is past a deadline; says whether that was not known. Past the hard one it leaves the counters of its
   * token and of all tasks, once.
   */
  passDeadline(taskId: string, deadline: Deadline, at: number): Promise<boolean>;
  /** Unfinished, past the hard deadline, and not before a person. */
  overdue(limit: number): Promise<readonly Task[]>;
}

export interface AttentionItem {
  readonly taskId: string;
  readonly reason: string;
  readonly detail: string;
  readonly since: number;
}

export interface AttentionStore {
  /** Puts a task before a person; one that already waits keeps its place. Says whether it did not wait yet. */
  raise(item: AttentionItem): Promise<boolean>;
  waits(taskId: string): Promise<boolean>;
  /** Takes it away again, by a person or because it mended itself, for any reason or for this one; says whether it waited. */
  resolve(
    taskId: string,
    by: {
      readonly resolution: string;
      readonly actor: string;
      readonly at: number;
      readonly reason?: string | undefined;
    },
  ): Promise<boolean>;
  open(): Promise<readonly AttentionItem[]>;
}

/** Which processes of this service live. */
export interface ProcessStore {
  heartbeat(processId: string, at: number): Promise<void>;
  /** The last heartbeat of each. */
  heartbeats(): Promise<ReadonlyMap<string, number>>;
  forget(processId: string): Promise<void>;
}

/** What goes when nobody needs it any more. Several processes may remove at once. */
export interface RetentionStore {
  /**
   * Removes tasks that ended before a time and are settled, the oldest first, with their attempts, events, attention and keys. One that
   * waits for a person, has a living key, or tells its upstream work from a lost one's, stays. Gives how many went.
   */
  removeFinished(which: { readonly before: number; readonly now: number; readonly limit: number }): Promise<number>;
  /** Removes expired idempotency keys; gives how many. */
  removeKeys(now: number, limit: number): Promise<number>;
}

export type TaskStore = CreateStore &
  ReadStore &
  MoveStore &
  AttentionStore &
  DeadlineStore &
  ProcessStore &
  RetentionStore;
