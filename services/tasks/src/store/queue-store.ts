import type { Task } from '../domain/task.ts';
import type { Finish, NewWork, PhaseTimes } from './task-store.ts';

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
  readonly number: number;
  readonly channel: string;
  readonly error: string;
  readonly at: number;
  /** The lane in which it waits from now on; absent: as before. */
  readonly lane?: string | undefined;
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
  /** Returns a claimed task to its place, without a charge. Returns whether it was still claimed. */
  returnToQueue(taskId: string, attempt: ReturnedAttempt): Promise<boolean>;
  /** Ends a task that waits, if no process has claimed it. Returns the times of its phases if this call ended it. */
  finishWaiting(taskId: string, finish: Finish): Promise<PhaseTimes | undefined>;
  /** Removes the place of a claimed task, once it does not return to it. */
  removePlace(taskId: string): Promise<void>;
  /** Removes places whose tasks do not wait any more, because a process died before it did. Returns their number. */
  removeOldPlaces(limit: number): Promise<number>;
  /** The names of the lanes in which tasks wait. */
  listLanes(): Promise<readonly string[]>;
  /** The tasks that wait in vain since a time, the first one first. */
  listExpired(now: number, limit: number): Promise<readonly Task[]>;
  /** The first time at which a task waits in vain. */
  findNextExpiry(): Promise<number | undefined>;
  /** The number of tasks that wait, of an account and of all. */
  countWaiting(accountId: string): Promise<{ readonly ofAccount: number; readonly total: number }>;
  /** Lets tokens take turns again that were at their limit. Absent: of any token, at most `limit` of them. */
  unblock(which: { readonly tokenId: string } | { readonly limit: number }): Promise<void>;
}
