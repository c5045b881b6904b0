import type { Failure, State } from './task.ts';

/** Bytes in the row itself, as base64, or the private media object that holds them. */
export type JobBytes = { readonly inline: string } | { readonly object: string };

/** A request of a synchronous route as it came. Nothing of it is read here but its endpoint and model. */
export interface JobCall {
  readonly endpoint: string;
  readonly model: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: JobBytes;
}

/** How an answer's bytes are given to the client. */
export type JobEncoding = 'none' | 'json' | 'text' | 'base64';

export interface JobAnswer {
  readonly statusCode: number;
  readonly contentType: string;
  readonly encoding: JobEncoding;
  readonly size: number;
  readonly body: JobBytes;
}

/** Times are milliseconds since 1970. */
export interface Job {
  readonly id: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly visibleModels: readonly string[];
  readonly requestId: string;
  readonly endpoint: string;
  readonly model: string;
  /** Whether a second call does no harm: then a lost one is made again. */
  readonly repeatable: boolean;
  readonly state: State;
  /** Its create goes on: it may yet be withdrawn. */
  readonly isBeingCreated: boolean;
  /** How often its upstream was about to be called. */
  readonly starts: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly finishedAt?: number | undefined;
  readonly answer?: JobAnswer | undefined;
  readonly failure?: Failure | undefined;
}

/** One taking of a job. */
export interface JobLease {
  readonly jobId: string;
  readonly lease: string;
}

/** The prefix of leases under which jobs are created. */
export const CREATE_LEASE = 'create';

/** How often a call that does no harm is begun before it is given up. */
const STARTS_MAX = 5;

/** What becomes of a job whose worker is gone. `unknown`: the upstream may have been called, and must not be called again. */
export function afterLoss({
  state,
  repeatable,
  starts,
}: Pick<Job, 'state' | 'repeatable' | 'starts'>): 'queue' | 'unknown' {
  if (state === 'queued') return 'queue';
  return repeatable && starts < STARTS_MAX ? 'queue' : 'unknown';
}
