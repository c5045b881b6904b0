import type { State } from './task.ts';

/** A job and its owner. */
export interface JobIdentity {
  readonly id: string;
  readonly accountId: string;
}

/** A job as it was ordered. Times are milliseconds since 1970. */
export interface JobOrigin extends JobIdentity {
  readonly tokenId: string;
  readonly visibleModels: readonly string[];
  readonly requestId: string;
  /** True if a second call does no harm. A lost call is then repeated. */
  readonly repeatable: boolean;
  readonly createdAt: number;
  /** The W3C `traceparent` that its work continues. Undefined if its create was not sampled. */
  readonly trace?: string | undefined;
  /** The id of the span that its own span is a child of. */
  readonly traceParent?: string | undefined;
}

/** The right of one worker to a job, under a name that is never used twice. */
export interface JobLease {
  readonly jobId: string;
  readonly lease: string;
}

/** The prefix of leases under which jobs are created. */
export const CREATE_LEASE = 'create';

/** Maximum number of starts of a repeatable call before it is given up. */
const STARTS_MAX = 5;

/** A job whose worker is gone, as far as that decides over it. */
export interface LostJob {
  readonly state: State;
  readonly repeatable: boolean;
  /** The number of calls of the upstream that were started. */
  readonly starts: number;
}

/**
 * Decides on a job without a living worker. Returns `unknown` if the upstream may have been called and must not be
 * called again.
 */
export function decideAfterLoss({ state, repeatable, starts }: LostJob): 'queue' | 'unknown' {
  if (state === 'queued') return 'queue';
  return repeatable && starts < STARTS_MAX ? 'queue' : 'unknown';
}
