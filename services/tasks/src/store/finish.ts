import type { Cause } from '../domain/failure-cause.ts';
import type { Failure, Result, Usage } from '../domain/task.ts';

/** The end of a task. Its events, for clients and for other services, are written in the same transaction. */
export interface Finish {
  readonly state: 'completed' | 'failed';
  readonly at: number;
  readonly upstreamStatus?: string | undefined;
  readonly result?: Result | undefined;
  readonly failure?: Failure | undefined;
  /** The failure in the words of the upstream, for the history, which only operators read. */
  readonly upstreamFailure?: Failure | undefined;
  readonly usage?: Usage | undefined;
  /** The charge of the upstream in millionths of a US dollar; undefined if it does not say it. */
  readonly upstreamCostMicroUsd?: number | undefined;
  readonly expiresAt?: number | undefined;
  /** The time at which the work ended, according to its upstream. It is measured and not stored. */
  readonly upstreamEndedAt?: number | undefined;
  /**
   * The cause of a failure that no upstream reported. Absent if its code shows the cause. It is counted and not stored.
   */
  readonly causedBy?: Cause | undefined;
  /** The `traceparent` that the event carries. */
  readonly trace?: string | undefined;
  /** The time in milliseconds that media took to fetch and keep the result, for the history. */
  readonly fetchMs?: number | undefined;
  /** True if only a task with an unknown outcome may end so. */
  readonly onlyIfUnknown?: boolean | undefined;
  /** The decision that ends it. If no question waits, such an end has no effect. */
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
