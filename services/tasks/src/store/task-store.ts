import type { AttentionItem } from '@reelgate/proto/tasks/v1/operator_service';
import type { Annotations } from '../domain/annotations.ts';
import type { WantedWords } from '../domain/prompt-words.ts';
import type { Doubt, Failure, Mapping, StagedMedia, State, Task, TaskFilter, TaskOrigin } from '../domain/task.ts';
import type { Finish, PhaseTimes } from './finish.ts';
import type { PromptStore } from './prompt-store.ts';
import type { QueueOperatorStore, QueueStore, AttemptFault } from './queue-store.ts';

/** The part of a create that tasks and jobs have in common. */
export interface NewWork {
  readonly idempotency?: { readonly key: string; readonly fingerprint: string; readonly expiresAt: number } | undefined;
  /** The counters that it takes, each with its limit. */
  readonly caps: readonly { readonly scope: string; readonly limit: number }[];
  /** The URL that the event of its end is delivered to. */
  readonly webhookUrl?: string | undefined;
}

/** A task before it is submitted. */
export interface NewTask extends TaskOrigin, NewWork {
  /** The process that creates it. */
  readonly owner: string;
  /** The first attempt, if it starts with the task: written as `started`, and counted on its channel. */
  readonly attempt?: ChannelPlace | undefined;
}

/** The place that an attempt takes on its channel. */
interface ChannelPlace {
  readonly channel: string;
  readonly inFlightMax: number;
  /** The account of the task, and its share of the places. Absent if only the channel counts it. */
  readonly ofAccount?: { readonly accountId: string; readonly inFlightMax: number };
}

/** `capped` names the counter that is full. `key_taken`: another call holds the idempotency key. */
export type BeginResult = 'begun' | 'key_taken' | { readonly capped: string };

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
  /** The class of a refusal, as adapters name it. Absent if the upstream was not asked. */
  readonly fault?: string | undefined;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
}

/** An attempt that ends as refused. */
export interface RefusedAttempt extends AttemptFault {
  readonly number: number;
  readonly channel: string;
  readonly at: number;
}

/** An attempt that begins. */
export interface StartedAttempt extends ChannelPlace {
  readonly number: number;
  readonly owner: string;
  readonly at: number;
}

/** An entry of the history of a task. `type` is a word for people. */
export interface Note {
  readonly type: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** An entry of the history as it is read. */
export interface HistoryEntry {
  readonly at: number;
  readonly type: string;
  readonly detailJson: string;
}

/** The changes by a poll while the task is unfinished. */
export interface Progress {
  readonly state: State;
  readonly upstreamStatus?: string | undefined;
  readonly unrecognised: boolean;
  readonly progress: number;
  readonly pollErrors: number;
  readonly doubt?: Doubt | undefined;
  readonly nextPollAt: number;
  /** The time at which the poll was due. If the task has become due again since, the next poll follows at once. */
  readonly wasDueAt?: number | undefined;
  readonly at: number;
  /** The number of polls of the task that have a span now; absent if it is as before. */
  readonly pollSpans?: number | undefined;
}

export interface KeyReader {
  findKey(accountId: string, key: string, now: number): Promise<KeyRecord | undefined>;
}

/** The beginning of a create, and its refusal. */
export interface BeginStore extends KeyReader {
  /**
   * Writes the task, its key and its counters in one transaction. Throws and does not write if the signal is aborted.
   */
  begin(task: NewTask, signal?: AbortSignal): Promise<BeginResult>;
  /** Writes the length of a task after its videos are probed. */
  measure(taskId: string, seconds: number): Promise<void>;
  /** Writes the staged media of the order, by their index in its content. */
  keepStaged(taskId: string, staged: Readonly<Record<number, StagedMedia>>): Promise<void>;
  /**
   * Refuses a create: hides it, removes the texts of its owner, ends an attempt that was not sent, frees its key and
   * its counters. Returns whether it was still `submitting`.
   */
  refuse(taskId: string, failure: Failure, at: number): Promise<boolean>;
}

/** The attempts of a create on the channels. */
export interface AttemptStore {
  /**
   * Writes an attempt as `started` before the upstream is called. Returns false if the channel, or the account on it,
   * is at its in-flight limit. Throws Overtaken if the create belongs to another owner.
   */
  startAttempt(taskId: string, attempt: StartedAttempt): Promise<boolean>;
  /**
   * Returns `accepted` if this call changed the task, `id_known` without a write if another task has that work, and
   * undefined if the task was decided over before.
   */
  accept(
    taskId: string,
    attempt: {
      readonly number: number;
      readonly mapping: Required<Mapping>;
      readonly at: number;
      readonly nextPollAt: number;
    },
  ): Promise<'accepted' | 'id_known' | undefined>;
  /** Ends an attempt as refused. Another attempt of the task may follow. */
  refuseAttempt(taskId: string, attempt: RefusedAttempt): Promise<void>;
  /** The answer was lost: the task lives on and is never submitted again. Returns the task if this call changed it. */
  leaveUnknown(
    taskId: string,
    attempt: { readonly number: number; readonly mapping: Mapping; readonly error: string; readonly at: number },
  ): Promise<Task | undefined>;
}

/** The owner of a create, or of a claimed task, that was taken from its process. */
export const DISOWNED = 'nobody';

/** The changes by the recovery to the creates of other processes. */
export interface TakeoverStore {
  /**
   * Takes a create or a claimed task from its process, which can then start no further attempt. Returns whether a
   * process still had it.
   */
  disown(taskId: string): Promise<boolean>;
  /** Assigns upstream work to a task with an unknown outcome. Returns false if another task has that work. */
  adopt(taskId: string, upstreamId: string, at: number): Promise<boolean>;
}

/** The steps of a create that are durable before and after each call of another service or an upstream. */
export interface CreateStore extends BeginStore, AttemptStore, TakeoverStore {}

/** The filter of a list: the members of every list, and the members of some. */
export interface ListFilter extends TaskFilter, Annotations {
  readonly taskIds?: readonly string[] | undefined;
  /** The times of creation: from the first one on, and before the second one. */
  readonly createdFrom?: number | undefined;
  readonly createdBefore?: number | undefined;
  /** The token that created it. */
  readonly tokenId?: string | undefined;
  /** The words of its prompt. A task is found by them within seconds of its create, later in a busy service. */
  readonly prompt?: WantedWords | undefined;
  /** The channel that has the work. */
  readonly channel?: string | undefined;
  /** The work with this id at any of these upstream accounts. */
  readonly upstream?: { readonly accounts: readonly string[]; readonly id: string } | undefined;
  /** Includes tasks that no client may see. */
  readonly hidden?: boolean | undefined;
}

export interface Page {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly offset?: number | undefined;
  readonly ascending?: boolean | undefined;
}

/** A page of an answer that may end early. */
export interface TaskStep {
  readonly tasks: readonly Task[];
  /** The last task that was examined, if more remain. */
  readonly continueAfter?: string | undefined;
}

/** A number of tasks that match. */
export interface TaskCount {
  readonly count: number;
  /** False if there may be more. */
  readonly isWhole: boolean;
}

/** Lists for pages. */
export interface StepStore {
  /** Counts up to `max` tasks that match, among a bounded number of tasks. */
  countStep(filter: ListFilter, max: number): Promise<TaskCount>;
  /** Lists tasks that match among a bounded number of tasks, so that each answer is quick. */
  listStep(filter: ListFilter, page: Omit<Page, 'offset'>): Promise<TaskStep>;
}

/** A finished task that is not settled, and how often its settlement failed. */
export interface UnsettledTask extends Task {
  readonly settleFailures: number;
}

export interface TaskReader {
  /** Finds a task of any admission. */
  find(taskId: string): Promise<Task | undefined>;
  /** Finds a task that this account may see. */
  findOwned(accountId: string, taskId: string): Promise<Task | undefined>;
}

export interface TaskLister {
  list(filter: ListFilter, page: Page): Promise<readonly Task[]>;
}

export interface HistoryReader {
  attempts(taskId: string): Promise<readonly Attempt[]>;
  events(taskId: string): Promise<readonly HistoryEntry[]>;
}

/** Reads of committed rows. */
export interface ReadStore extends TaskReader, TaskLister, HistoryReader {
  count(filter: ListFilter): Promise<number>;
  inFlight(scope: string): Promise<number>;
  /**
   * Creates and claimed tasks of these owners, and of owners that have no heartbeat. A process has a heartbeat before
   * its first create. At most `limit` of each.
   */
  listAbandoned(deadOwners: readonly string[], limit: number): Promise<readonly Task[]>;
  /** The ids of the creates and of the claimed tasks that a process owns, at most `limit` of each. */
  listOwnedCreateIds(owner: string, limit: number): Promise<readonly string[]>;
  /** Unfinished tasks in the order of their ids, after a position. Of those that wait, only the claimed ones. */
  listWithAdmission(
    admission: 'submitting' | 'unknown' | 'waiting',
    page: { readonly limit: number; readonly after: string },
  ): Promise<readonly Task[]>;
  /** The time from which on the first finished task waits to be settled. */
  findFirstUnsettled(): Promise<number | undefined>;
  /**
   * Finished tasks with a settlement that is due before a time, or after a time that is impossible unless the clock was
   * set back.
   */
  listUnsettled(which: {
    readonly before: number;
    readonly beyond: number;
    readonly limit: number;
  }): Promise<readonly UnsettledTask[]>;
  findKnownUpstreamIds(upstreamAccount: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** The tasks of an account that a watch is about. */
export interface ChangeFilter extends TaskFilter {
  readonly accountId: string;
}

/** A position in the order of last changes. */
export interface ChangePosition {
  readonly at: number;
  readonly id: string;
}

/** A task and the time of its last visible change, which names its version. */
export interface Change {
  readonly id: string;
  readonly version: number;
}

/** Versions of tasks. Each change that an owner can see gives the task a later `updatedAt`. */
export interface VersionReader {
  /** The versions of the tasks among these that an owner can see. */
  versions(taskIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Tasks of some accounts in the order of their last changes, after a position. Removed tasks may be among them. */
  listChanges(accountIds: readonly string[], after: ChangePosition, limit: number): Promise<readonly Change[]>;
}

export interface ChangedTaskLister {
  /** The visible tasks of an account in the order of their last changes, after a position. */
  listChangedTasks(filter: ChangeFilter, after: ChangePosition, limit: number): Promise<readonly Task[]>;
}

/** Reads for watches. */
export interface ChangeStore extends VersionReader, ChangedTaskLister {}

/** The leases of tasks: the process that polls a task. */
export interface TaskLeaseStore {
  /** Leases due tasks of a channel to a process. Until the lease ends, no other process gets them. */
  claimDue(
    channel: string,
    options: { readonly now: number; readonly leaseUntil: number; readonly limit: number; readonly owner: string },
  ): Promise<readonly Task[]>;
  /** The first moment at which a task of a channel that no process has leased is due. */
  findNextDue(channel: string, now: number): Promise<number | undefined>;
  /** Ends all leases of a process, and marks their tasks as resumed until the next outcome of a poll. */
  dropLeases(owner: string): Promise<void>;
  /** The ids of the tasks of a channel that are leased to a process. */
  listLeasedIds(channel: string, owner: string): Promise<readonly string[]>;
  /** Ends the lease of a task if it belongs to this process. */
  dropLease(taskId: string, owner: string): Promise<void>;
}

/** The due times of tasks: the time at which a task is polled. */
export interface DueTimeStore {
  /**
   * Resets tasks with an impossibly late due time, because the clock was set back, so that they are due now. Returns
   * their number, up to `limit`.
   */
  pullIn(
    channel: string,
    options: { readonly beyond: number; readonly to: number; readonly limit: number },
  ): Promise<number>;
  makeDue(taskId: string, at: number): Promise<void>;
  /**
   * Polls a task before all others, or once more after the poll that is running. Returns whether that changed anything.
   */
  pollSoon(taskId: string, at: number): Promise<boolean>;
}

export interface ProgressStore {
  /**
   * Writes the outcome of a poll, unless the task has ended. Returns whether it wrote. `updatedAt` moves only if the
   * owner sees a difference.
   */
  progress(taskId: string, from: State, to: Progress, note?: Note): Promise<boolean>;
}

export interface FinishStore {
  /**
   * Ends an unfinished task by compare-and-set, with its events, its counters, its attention and its history in one
   * transaction. Returns the times of its phases if it won.
   */
  finish(taskId: string, finish: Finish): Promise<PhaseTimes | undefined>;
}

/** The steps that follow the end of a task. */
export interface EndedTaskStore {
  /** Marks at most `SETTLED_MAX` tasks, in one statement. */
  markSettled(taskIds: readonly string[], at: number): Promise<void>;
  /** Retries a failed settlement at this time. Others go on in the meantime. */
  putOffSettlement(taskId: string, to: number): Promise<void>;
}

export interface RemovalStore {
  /** Hides a finished task from its owner, and removes its content and its words. Returns false if it was hidden before. */
  remove(taskId: string, at: number): Promise<boolean>;
  /**
   * Erases the rows that this process has removed from the files of an embedded database. It is repeated if others are
   * in its way.
   */
  eraseRemoved(): Promise<void>;
}

/** Changes of a task's state. */
export interface MoveStore extends TaskLeaseStore, DueTimeStore, ProgressStore, FinishStore, EndedTaskStore {}

/**
 * The time in milliseconds by which a task that an upstream called for is due earlier. No task is ever overdue by
 * this much.
 */
export const AHEAD_MS = 24 * 3600 * 1000;

/** The tasks of one statement that marks them as settled. */
export const SETTLED_MAX = 100;

export type Deadline = 'soft' | 'hard';

/** Tasks that are past a deadline. */
export interface DeadlineStore {
  /** Unfinished tasks that were created before a time and are not yet marked as past the deadline. */
  listLate(deadline: Deadline, createdBefore: number, limit: number): Promise<readonly Task[]>;
  /**
   * Marks an unfinished task as past a deadline. Returns whether it was not marked yet. At the hard deadline the task
   * leaves the counter of its token and the counter of all tasks, once.
   */
  passDeadline(taskId: string, deadline: Deadline, at: number): Promise<boolean>;
  /** Unfinished tasks past the hard deadline that do not wait for a person. */
  listOverdue(limit: number): Promise<readonly Task[]>;
}

/** A question for a person about a task or a job, before it is written. */
export interface NewAttention {
  readonly taskId: string;
  readonly reason: string;
  readonly detail: string;
  readonly since: number;
}

export interface AttentionStore {
  /**
   * Asks a person to decide. A task that already waits keeps its reason and time. A task that has ended is asked about
   * only for usage above its hold, and once. Returns whether the question is new.
   */
  raise(item: NewAttention): Promise<boolean>;
  isWaiting(taskId: string): Promise<boolean>;
  /**
   * Ends the wait, by a person or by the service, for any reason or only for the given one. `why` are the words of a
   * person: the decision becomes an act. Returns whether it waited.
   */
  resolve(
    taskId: string,
    by: {
      readonly resolution: string;
      readonly actor: string;
      readonly at: number;
      readonly reason?: string | undefined;
      readonly why?: string | undefined;
    },
  ): Promise<boolean>;
  /** The longest waiting first. */
  listOpenAttention(): Promise<readonly AttentionItem[]>;
}

/** The living processes of this service. */
export interface ProcessStore {
  heartbeat(processId: string, at: number): Promise<void>;
  /** The last heartbeat of each process. */
  heartbeats(): Promise<ReadonlyMap<string, number>>;
  forget(processId: string): Promise<void>;
  /** Keeps a time at which clocks were seen to be wrong, also for processes that start later. */
  noteClockDoubt(at: number): Promise<void>;
  /** The times since `from` at which clocks were seen to be wrong, the oldest first. */
  listClockDoubts(from: number): Promise<readonly number[]>;
}

/** Removes old records. Several processes may remove at once. */
export interface RetentionStore {
  /**
   * Removes settled tasks that ended before a time, the oldest first, with their attempts, history, attention and keys.
   * A task stays while a person must decide, while a key is live, or while a lost task could adopt its work. Returns
   * how many were removed.
   */
  removeFinished(which: { readonly before: number; readonly now: number; readonly limit: number }): Promise<number>;
  /** Removes expired idempotency keys and returns their number. */
  removeKeys(now: number, limit: number): Promise<number>;
}

export type TaskStore = CreateStore &
  QueueStore &
  QueueOperatorStore &
  ReadStore &
  StepStore &
  ChangeStore &
  MoveStore &
  RemovalStore &
  AttentionStore &
  DeadlineStore &
  ProcessStore &
  RetentionStore &
  PromptStore;
