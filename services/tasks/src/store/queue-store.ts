import type { QueueClass } from '../domain/lane.ts';
import type { Task } from '../domain/task.ts';
import type { Finish, PhaseTimes } from './finish.ts';
import type { Decision } from './operator-store.ts';

/** The tasks of a token in a lane, which take turns with others. */
export interface Flow {
  /** The name of the lane. */
  readonly lane: string;
  readonly accountId: string;
  readonly tokenId: string;
}

/** The place of a task that waits for a channel. */
export interface QueuePlace extends Flow {
  readonly taskId: string;
  /** In seconds of video. */
  readonly cost: number;
  readonly since: number;
  /** Without a turn until then the task fails. */
  readonly startBy: number;
  /** The task has no turn before this time, and waits in the lane `scheduled`. */
  readonly notBefore?: number | undefined;
  /** The lane in which it waits from then on. */
  readonly nextLane?: string | undefined;
  /** The counters that it takes at its turn, next to the counter of its channel. */
  readonly caps: readonly { readonly scope: string; readonly limit: number }[];
  /** The staged media of its order and of its source, for the plan of its attempts. */
  readonly mediaJson: string;
  /** The number of times that a channel has refused the task, without those in which it only limited its callers. */
  readonly refusals: number;
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

/** `full` names the full counter, of the channel or of all tasks. */
export type Claim =
  | ({ readonly outcome: 'claimed' } & ClaimedTask)
  | { readonly outcome: 'empty' }
  | { readonly outcome: 'full'; readonly scope: string };

/** The error of a refused attempt. */
export interface AttemptFault {
  readonly error: string;
  /** Its class, as adapters name it. Absent if the upstream was not asked. */
  readonly fault?: string | undefined;
}

/** The end of an attempt with a task that returns to its place. */
export interface ReturnedAttempt extends AttemptFault {
  /** The last attempt of the task, and its owner: the task stays as it is if it has had another turn since. */
  readonly number: number;
  readonly owner: string;
  readonly channel: string;
  readonly at: number;
  /** The lane in which it waits from now on. Absent if it stays in its lane. */
  readonly lane?: string | undefined;
  /** The time from which it waits there. Absent for now. */
  readonly notBefore?: number | undefined;
  /** The refusals of the task from now on. Absent if they stay as they are. */
  readonly refusals?: number | undefined;
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

/** The places of tasks. */
export interface PlaceStore {
  /**
   * Assigns the task of a create a place, and frees its counters. Its owner sees it from then on. Returns the task, or
   * undefined if another process has decided over its create.
   */
  enqueue(place: QueuePlace, owner: string): Promise<Task | undefined>;
  /** Returns a claimed task to its place, without a charge. Returns whether its attempt still was the last one. */
  returnToQueue(taskId: string, attempt: ReturnedAttempt): Promise<boolean>;
  /** Ends a task that waits, if no process has claimed it. Returns the times of its phases if this call ended it. */
  finishWaiting(taskId: string, finish: Finish): Promise<PhaseTimes | undefined>;
  /** Removes the place of a claimed task, once it does not return to it. */
  removePlace(taskId: string): Promise<void>;
  /** Removes places of tasks that do not wait any more, because a process died before it did. Returns their number. */
  removeOldPlaces(limit: number): Promise<number>;
}

/** The turns of tasks. */
export interface TurnStore {
  /** Takes the next task of a lane for a process that submits it at once. */
  claim(lane: string, to: OpenChannel, by: { readonly owner: string; readonly at: number }): Promise<Claim>;
  /** Lets a token take turns again that was at its limit. */
  unblock(tokenId: string): Promise<void>;
}

export interface FlowStore {
  /** Forgets the usage of accounts and tokens in empty lanes, at most a number of each. Returns how many it forgot. */
  removeIdleFlows(limit: number): Promise<number>;
}

export interface ScheduleStore {
  /** Lets tasks take turns from now on if their time has come, at most a number of them. Returns their number. */
  startScheduled(now: number, limit: number): Promise<number>;
}

export interface QueueReads {
  /** The names of the lanes in which tasks wait, without the lane of the tasks before their time. */
  listLanes(): Promise<readonly string[]>;
  /** The weight of an account in a lane, and the other weights there. */
  readShare(lane: string, accountId: string, tokenId?: string): Promise<QueueShare>;
  /** The tasks that wait in vain since a time, the first one first. */
  listExpired(now: number, limit: number): Promise<readonly ExpiredTask[]>;
  /** The number of tasks that wait, of an account and of all. */
  countWaiting(accountId: string): Promise<{ readonly ofAccount: number; readonly total: number }>;
  /** The tokens that are at their limit, in the order of their ids, after one. */
  listBlocked(after: string, limit: number): Promise<readonly string[]>;
}

/** The tasks that wait for a channel. Accounts, and the tokens of an account, take turns by their usage. */
export interface QueueStore extends PlaceStore, TurnStore, FlowStore, ScheduleStore, QueueReads {}

/** A place that no process has claimed, with the facts that decide on its turn. */
export interface FoundPlace extends Omit<QueuePlace, 'caps' | 'mediaJson' | 'refusals'> {
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

export interface WaitingReads {
  /** Undefined if the task does not wait, or has its turn now. */
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
  /** The models with lanes that get no turns. */
  listHeldModels(): Promise<readonly string[]>;
}

/** The shares of accounts. */
export interface QueueWeightStore {
  /** Sets the share of an account in every lane, until a time or, without one, until it is set again. */
  setQueueWeight(
    accountId: string,
    to: { readonly weight: number; readonly until?: number | undefined },
    by: Decision,
  ): Promise<void>;
  /** Resets accounts with an ended weight to the weight 1. Returns their number. */
  endOldWeights(now: number, limit: number): Promise<number>;
}

/** The turns that operators withhold. */
export interface QueueHoldStore {
  /** Withholds the turns of an account or a model. Returns false, and does not write, if they were held before. */
  holdQueue(subject: QueueSubject, by: Decision): Promise<boolean>;
  /** Releases them. Returns whether they were held. */
  releaseQueue(subject: QueueSubject, by: Decision): Promise<boolean>;
}

export interface PlaceMover {
  /**
   * Lets a task wait in the lane of another class, or before all others of its token there. Returns the name of the lane;
   * undefined if the task does not wait, or has its turn now.
   */
  movePlace(
    taskId: string,
    to: { readonly class?: QueueClass | undefined; readonly first: boolean },
    by: Decision,
  ): Promise<string | undefined>;
}

/** The view of the queue for operators, and their decisions over it. */
export interface QueueOperatorStore extends WaitingReads, QueueWeightStore, QueueHoldStore, PlaceMover {}

/** The most lanes that operators see. */
export const LANES_MAX = 1000;
