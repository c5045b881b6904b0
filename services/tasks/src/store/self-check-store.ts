import type { Backlog } from '@reelgate/platform/diagnosis/backlog-check';

/** The outcome of an attempt, for the operator. */
export interface RecentAttempt {
  readonly channel: string;
  readonly outcome: string;
  readonly error: string;
}

/** What an operator asks about all tasks. Every answer is bounded. */
export interface SelfCheckStore {
  /** Events that are not published. */
  outbox(): Promise<Backlog>;
  /** The attempts of the tasks that were created since, the newest first. */
  attemptsSince(since: number): Promise<readonly RecentAttempt[]>;
}
