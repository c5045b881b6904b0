import type { Backlog } from '@reelgate/platform/diagnosis/self-checks';

/** The number of waiting items, and the time since which the oldest waits. */
export interface WaitingCount {
  /** Up to a maximum. */
  readonly count: number;
  /** Undefined if no item waits. */
  readonly oldest: number | undefined;
}

export interface LaneCount extends WaitingCount {
  readonly lane: string;
}

/** Numbers over all tasks. They are read from indexes of waiting and running work alone, which the limits bound. */
export interface BacklogStore {
  /** Unfinished tasks by their channel and their state. The channel is undefined before the first attempt. */
  openTasks(): Promise<
    readonly { readonly channel: string | undefined; readonly state: string; readonly count: number }[]
  >;
  /** Since when the oldest due task of each channel has waited for its poll. A task that is being polled does not. */
  dueSince(channels: readonly string[], now: number): Promise<ReadonlyMap<string, number>>;
  countAttention(): Promise<WaitingCount>;
  /** The tasks of each lane that no process has claimed, for a number of lanes. */
  countLanes(): Promise<readonly LaneCount[]>;
  /** The ended tasks with unsettled money, and when the first of them ended. */
  countUnsettled(): Promise<WaitingCount>;
  /**
   * The moments after a time at which any process gave each channel an order, the oldest first. Those of tasks that were
   * created long before are missing.
   */
  submissionsAfter(time: number): Promise<ReadonlyMap<string, readonly number[]>>;
}

/** The outcome of an attempt, for the operator. */
export interface RecentAttempt {
  readonly channel: string;
  readonly accountId: string;
  readonly outcome: string;
  readonly error: string;
  /** The class of its refusal. Undefined if the upstream was not asked, or did not refuse it. */
  readonly fault: string | undefined;
  /** The code with which its task failed; undefined if it has not failed. */
  readonly failureCode: string | undefined;
}

/** An unfinished task, for the operator. */
export interface LateTask {
  readonly id: string;
  /** Undefined if it has no attempt yet. */
  readonly channel: string | undefined;
  readonly createdAt: number;
  /** True if the outcome of its submission is unknown. */
  readonly isUnknown: boolean;
}

export interface LateTasks {
  /** Up to a maximum. */
  readonly count: number;
  /** True if there may be more than were counted. */
  readonly isAtLeast: boolean;
  /** The oldest first, a few of them. */
  readonly oldest: readonly LateTask[];
}

/** The questions of an operator about all tasks. Every answer is bounded. */
export interface SelfCheckStore {
  /** Events that are not published. */
  outbox(): Promise<Backlog>;
  /** The unfinished tasks that were created before this and do not wait for a person. */
  lateTasks(createdBefore: number): Promise<LateTasks>;
  /** The attempts of the tasks that were created since, the newest first. */
  attemptsSince(since: number): Promise<readonly RecentAttempt[]>;
}
