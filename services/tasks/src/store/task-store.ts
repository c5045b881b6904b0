import type { Cause } from '../domain/failure-cause.ts';
import type { QueueClass } from '../domain/lane.ts';
import type {
  Doubt,
  Failure,
  Mapping,
  Result,
  StagedMedia,
  State,
  Task,
  TaskFilter,
  TaskOrigin,
  Usage,
} from '../domain/task.ts';

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
  readonly attempt?: { readonly channel: string; readonly inFlightMax: number } | undefined;
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
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
}

/** An attempt that begins. */
export interface StartedAttempt {
  readonly number: number;
  readonly owner: string;
  readonly channel: string;
  readonly inFlightMax: number;
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

/** The end of a task. Its events, for clients and for other services, are written in the same transaction. */
export interface Finish {
  readonly state: 'completed' | 'failed';
  readonly at: number;
  readonly upstreamStatus?: string | undefined;
  readonly result?: Result | undefined;
  readonly failure?: Failure | undefined;
  readonly usage?: Usage | undefined;
  /** The charge of the upstream in millionths of a US dollar; undefined if it does not say it. */
  readonly upstreamCostMicroUsd?: number | undefined;
  readonly expiresAt?: number | undefined;
  /** The time at which the work ended, according to its upstream. It is measured and not stored. */
  readonly upstreamEndedAt?: number | undefined;
  /** The cause of a failure that no upstream reported; absent if its code tells. It is counted and not stored. */
  readonly causedBy?: Cause | undefined;
  /** The `traceparent` that the event carries. */
  readonly trace?: string | undefined;
  /** The time in milliseconds that media took to fetch and keep the result, for the history. */
  readonly fetchMs?: number | undefined;
  /** True if only a task with an unknown outcome may end so. */
  readonly onlyIfUnknown?: boolean | undefined;
  /** The decision that ends it. Without one that waits, such an end changes nothing. */
  readonly decision?: PersonDecision | undefined;
}

/** A person's decision, with its author and reason. */
export interface PersonDecision {
  readonly resolution: string;
  readonly actor: string;
  readonly why: string;
}

/** The times at which the phases of a task began; absent if unknown. */
export interface PhaseTimes {
  /** The time at which an upstream accepted the task. */
  readonly acceptedAt?: number | undefined;
  /** The time at which a poll first saw the upstream at work. */
  readonly workingAt?: number | undefined;
  /** True if the task waited for a person. */
  readonly hasWaited?: boolean;
}

/** The changes that a poll makes while the task is unfinished. */
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
  /** Writes the task, its key and its counters, or nothing. Throws and writes nothing if the signal is aborted. */
  begin(task: NewTask, signal?: AbortSignal): Promise<BeginResult>;
  /** Writes the length of a task after its videos are probed. */
  measure(taskId: string, seconds: number): Promise<void>;
  /** Writes the staged media of the order, by their index in its content. */
  keepStaged(taskId: string, staged: Readonly<Record<number, StagedMedia>>): Promise<void>;
  /**
   * Refuses a create: hides it, ends an attempt that was not sent, frees its key and its counters. Returns
   * whether it was still `submitting`.
   */
  refuse(taskId: string, failure: Failure, at: number): Promise<boolean>;
}

/** The attempts of a create on the channels. */
export interface AttemptStore {
  /**
   * Writes an attempt as `started` before the upstream is called. Returns false if the channel is at its in-flight
   * limit. Throws Overtaken if the create belongs to another owner.
   */
  startAttempt(taskId: string, attempt: StartedAttempt): Promise<boolean>;
  /**
   * `accepted`: this call changed the task. `id_known`: another task has that work, and nothing was written. Undefined:
   * the task was decided over before.
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
  refuseAttempt(
    taskId: string,
    attempt: { readonly number: number; readonly channel: string; readonly error: string; readonly at: number },
  ): Promise<void>;
  /** The answer was lost: the task lives on and is never submitted again. Returns the task if this call changed it. */
  leaveUnknown(
    taskId: string,
    attempt: { readonly number: number; readonly mapping: Mapping; readonly error: string; readonly at: number },
  ): Promise<Task | undefined>;
}

/** The owner of a create, or of a claimed task, that was taken from its process. */
export const DISOWNED = 'nobody';

/** The changes that the recovery makes to the creates of other processes. */
export interface TakeoverStore {
  /**
   * Takes a create or a claimed task from its process, which can then start no further attempt. Returns whether a
   * process still had it.
   */
  disown(taskId: string): Promise<boolean>;
  /** Gives upstream work to a task with an unknown outcome. Returns false if another task has that work. */
  adopt(taskId: string, upstreamId: string, at: number): Promise<boolean>;
}

/** The steps of a create that are durable before and after each call of another service or an upstream. */
export interface CreateStore extends BeginStore, AttemptStore, TakeoverStore {}

/** The filter of a list: what every list has, and what only some have. */
export interface ListFilter extends TaskFilter {
  readonly taskIds?: readonly string[] | undefined;
  /** The times of creation: from the first one on, and before the second one. */
  readonly createdFrom?: number | undefined;
  readonly createdBefore?: number | undefined;
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

/** Lists for pages. */
export interface StepStore {
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
   * Finished tasks whose settlement is due before a time. Also those due after a time that none can have unless the
   * clock was set back.
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
  /** The versions of those of the tasks that an owner can see. */
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
   * Makes tasks due whose due time is impossibly late, because the clock was set back. Returns their number, up to
   * `limit`.
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
   * Writes what a poll found, unless the task has ended. Returns whether it wrote. `updatedAt` moves only if the owner
   * sees a difference.
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
  remove(taskId: string, at: number): Promise<boolean>;
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

export interface AttentionItem {
  readonly taskId: string;
  readonly reason: string;
  readonly detail: string;
  readonly since: number;
}

/** A task or job that waits for a person, with what it is about. */
export interface OpenAttention extends AttentionItem {
  readonly accountId: string;
  readonly model: string;
  /** The channel that has the work, or the last one that was tried; empty: none. */
  readonly channel: string;
  readonly state: State;
  readonly isJob: boolean;
}

export interface AttentionStore {
  /**
   * Asks a person to decide. A task that already waits keeps its reason and time. Returns whether it did not wait yet.
   */
  raise(item: AttentionItem): Promise<boolean>;
  isWaiting(taskId: string): Promise<boolean>;
  /**
   * Ends the wait, by a person or by the service, for any reason or only for the given one. `why` are the words of a
   * person, whose decision becomes an act. Returns whether it waited.
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
  listOpenAttention(): Promise<readonly OpenAttention[]>;
}

/** The living processes of this service. */
export interface ProcessStore {
  heartbeat(processId: string, at: number): Promise<void>;
  /** The last heartbeat of each process. */
  heartbeats(): Promise<ReadonlyMap<string, number>>;
  /** The processes of a release that does not know tasks that wait for a channel. */
  listWithoutQueue(): Promise<readonly string[]>;
  forget(processId: string): Promise<void>;
}

/** Removes what is no longer needed. Several processes may remove at once. */
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

/** The place of a task that waits for a channel. */
export interface QueuePlace {
  readonly taskId: string;
  /** The name of its lane. */
  readonly lane: string;
  readonly accountId: string;
  readonly tokenId: string;
  /** In seconds of video. */
  readonly cost: number;
  readonly since: number;
  /** Without a turn until then the task fails. */
  readonly startBy: number;
  /** The task has no turn before this time, and waits in the lane `scheduled`. */
  readonly notBefore?: number | undefined;
  /** The lane in which it waits from then on. */
  readonly nextLane?: string | undefined;
  /** The counters that it takes at its turn, beside that of its channel. */
  readonly caps: NewWork['caps'];
  /** The staged media of its order and of its source, for the plan of its attempts. */
  readonly mediaJson: string;
}

/** A channel that has room for a task. */
export interface OpenChannel {
  readonly channel: string;
  readonly inFlightMax: number;
}

/** A task at its turn: its attempt is written as `started`, and it is counted as in flight. */
export interface ClaimedTask {
  readonly task: Task;
  readonly place: QueuePlace;
  /** The number of its attempt. */
  readonly number: number;
}

/** `full` names the counter that has no room: that of the channel, or that of all tasks. */
export type Claim =
  | ({ readonly outcome: 'claimed' } & ClaimedTask)
  | { readonly outcome: 'empty' }
  | { readonly outcome: 'full'; readonly scope: string };

/** The end of an attempt whose task returns to its place. */
export interface ReturnedAttempt {
  /** The last attempt of the task, and its owner: nothing is changed if the task has had another turn since. */
  readonly number: number;
  readonly owner: string;
  readonly channel: string;
  readonly error: string;
  readonly at: number;
  /** The lane in which it waits from now on; absent: as before. */
  readonly lane?: string | undefined;
}

export interface ExpiredTask {
  readonly task: Task;
  /** The lane in which it would have had its turn. */
  readonly lane: string;
}

export interface QueueShare {
  readonly weight: number;
  /** The sum of the weights of the accounts that wait in the lane and of this one. */
  readonly weights: number;
  /** The number of tasks of the token that wait in the lane. */
  readonly ofToken: number;
}

/** The tasks that wait for a channel. Accounts, and the tokens of an account, take turns by what they have used. */
export interface QueueStore {
  /**
   * Gives the task of a create a place, and frees its counters. Its owner sees it from then on. Returns the task;
   * undefined if another process has decided over its create.
   */
  enqueue(place: QueuePlace, owner: string): Promise<Task | undefined>;
  /** Takes the next task of a lane for a process that submits it at once. */
  claim(lane: string, to: OpenChannel, by: { readonly owner: string; readonly at: number }): Promise<Claim>;
  /** Returns a claimed task to its place, without a charge. Returns whether its attempt still was the last one. */
  returnToQueue(taskId: string, attempt: ReturnedAttempt): Promise<boolean>;
  /** Ends a task that waits, if no process has claimed it. Returns the times of its phases if this call ended it. */
  finishWaiting(taskId: string, finish: Finish): Promise<PhaseTimes | undefined>;
  /** Removes the place of a claimed task, once it does not return to it. */
  removePlace(taskId: string): Promise<void>;
  /** Removes places whose tasks do not wait any more, because a process died before it did. Returns their number. */
  removeOldPlaces(limit: number): Promise<number>;
  /** Lets tasks take turns from now on whose time has come, at most a number of them. Returns their number. */
  startScheduled(now: number, limit: number): Promise<number>;
  /** The names of the lanes in which tasks wait, without that of the tasks whose time has not come. */
  listLanes(): Promise<readonly string[]>;
  /** The weight of an account in a lane, and what waits beside it. */
  readShare(lane: string, accountId: string, tokenId?: string): Promise<QueueShare>;
  /** The tasks that wait in vain since a time, the first one first. */
  listExpired(now: number, limit: number): Promise<readonly ExpiredTask[]>;
  /** The number of tasks that wait, of an account and of all. */
  countWaiting(accountId: string): Promise<{ readonly ofAccount: number; readonly total: number }>;
  /** Lets a token take turns again that was at its limit. */
  unblock(tokenId: string): Promise<void>;
  /** The tokens that are at their limit, in the order of their ids, after one. */
  listBlocked(after: string, limit: number): Promise<readonly string[]>;
}

/** A place that no process has claimed, with what decides when it has its turn. */
export interface FoundPlace extends Omit<QueuePlace, 'caps' | 'mediaJson'> {
  /** The lane in which it waits from `notBefore` on; absent: it waits for no time. */
  readonly nextLane?: string | undefined;
  readonly notBefore?: number | undefined;
  /** The number of unclaimed places of its token before it in its lane, up to 1000. */
  readonly position: number;
  /** False if its token is at its limit. */
  readonly isReady: boolean;
  /** True if an operator holds its account. */
  readonly isHeld: boolean;
  /** The weight of its account. */
  readonly weight: number;
  /** The sum of the weights of the accounts that take turns in its lane. */
  readonly weights: number;
}

/** A lane in which tasks wait. */
export interface WaitingLane {
  readonly lane: string;
  readonly waiting: number;
  readonly oldestSince: number;
  /** The sum of the weights of the accounts that take turns in it. */
  readonly weights: number;
}

/** An account that waits in a lane. */
export interface WaitingAccount {
  readonly lane: string;
  readonly accountId: string;
  readonly waiting: number;
  readonly oldestSince: number;
  readonly weight: number;
  /** False if each of its tokens that waits is at its limit. */
  readonly isReady: boolean;
  readonly isHeld: boolean;
}

/** An account or a model in every lane. */
export type QueueSubject = { readonly account: string } | { readonly model: string };

/** The author, the time and the reason of a decision of an operator, which becomes an act. */
export interface QueueDecision {
  readonly at: number;
  readonly actor: string;
  readonly reason: string;
}

export interface QueueReads {
  /** Undefined: the task does not wait, or has its turn now. */
  findPlace(taskId: string): Promise<FoundPlace | undefined>;
  /** By their names, up to `LANES_MAX`. */
  listWaitingLanes(): Promise<readonly WaitingLane[]>;
  /** Those that wait for the longest time first. */
  listWaitingAccounts(
    which: { readonly lanes: readonly string[]; readonly accountId?: string | undefined },
    limit: number,
  ): Promise<readonly WaitingAccount[]>;
  /** The tasks of an account, or of one of its tokens, that wait and that no process has claimed. */
  listWaitingTasks(
    whose: { readonly accountId: string; readonly tokenId?: string | undefined },
    limit: number,
  ): Promise<readonly Task[]>;
  /** The models whose lanes get no turns. */
  listHeldModels(): Promise<readonly string[]>;
}

/** The view of the queue for operators, and their decisions over it. */
export interface QueueOperatorStore extends QueueReads {
  /** Sets the share of an account in every lane, until a time or, without one, until it is set again. */
  setQueueWeight(
    accountId: string,
    to: { readonly weight: number; readonly until?: number | undefined },
    by: QueueDecision,
  ): Promise<void>;
  /** Gives accounts the weight 1 whose weight has ended. Returns their number. */
  endOldWeights(now: number, limit: number): Promise<number>;
  /** Takes their turns from an account or a model. Returns false, and writes nothing, if they were held before. */
  holdQueue(subject: QueueSubject, by: QueueDecision): Promise<boolean>;
  /** Gives them back. Returns whether they were held. */
  releaseQueue(subject: QueueSubject, by: QueueDecision): Promise<boolean>;
  /**
   * Lets a task wait in the lane of another class, or before all others of its token there. Returns the name of the lane;
   * undefined if the task does not wait, or has its turn now.
   */
  movePlace(
    taskId: string,
    to: { readonly class?: QueueClass | undefined; readonly first: boolean },
    by: QueueDecision,
  ): Promise<string | undefined>;
}

/** The most lanes that operators see. */
export const LANES_MAX = 1000;

export type TaskStore = CreateStore &
  QueueStore &
  QueueOperatorStore &
  ReadStore &
  StepStore &
  ChangeStore &
  MoveStore &
  AttentionStore &
  DeadlineStore &
  ProcessStore &
  RetentionStore;
