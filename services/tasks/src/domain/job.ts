import type { Failure, State } from './task.ts';

/** Bytes in the row, as base64, or the id of the private media object that holds them. */
export type JobBytes = { readonly inline: string } | { readonly object: string };

/** A request of a synchronous route as the client sent it. This service reads only its endpoint and model. */
export interface JobCall {
  readonly endpoint: string;
  readonly model: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: JobBytes;
  /** The client's word under which it is charged. */
  readonly label?: string | undefined;
}

/** The form in which the client receives the bytes of an answer. */
export type JobEncoding = 'none' | 'json' | 'text' | 'base64';

export interface JobAnswer {
  readonly statusCode: number;
  readonly contentType: string;
  readonly encoding: JobEncoding;
  readonly size: number;
  readonly body: JobBytes;
}

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

export interface Job extends JobOrigin {
  readonly endpoint: string;
  readonly model: string;
  readonly state: State;
  /** Its create has not ended, so it can still be withdrawn. */
  readonly isBeingCreated: boolean;
  /** The number of calls of the upstream that were started. */
  readonly starts: number;
  readonly updatedAt: number;
  readonly finishedAt?: number | undefined;
  readonly answer?: JobAnswer | undefined;
  readonly failure?: Failure | undefined;
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

/**
 * Decides on a job without a living worker. Returns `unknown` if the upstream may have been called and must not be
 * called again.
 */
export function decideAfterLoss({ state, repeatable, starts }: Job): 'queue' | 'unknown' {
  if (state === 'queued') return 'queue';
  return repeatable && starts < STARTS_MAX ? 'queue' : 'unknown';
}
