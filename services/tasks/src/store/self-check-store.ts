import type { Backlog } from '@reelgate/platform/diagnosis/backlog-check';

/** The outcome of an attempt, for the operator. */
export interface RecentAttempt {
  readonly channel: string;
  readonly outcome: string;
  readonly error: string;
}

/** An unfinished task, for the operator. */
export interface LateTask {
  readonly id: string;
  /** Undefined: it has no attempt yet. */
  readonly channel: string | undefined;
  readonly createdAt: number;
  /** Whether the outcome of its submission is unknown. */
  readonly isUnknown: boolean;
}

export interface LateTasks {
  /** Up to a maximum. */
  readonly count: number;
  /** Whether there may be more than were counted. */
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
