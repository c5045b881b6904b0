import type { Job, JobAnswer, JobCall, JobLease } from '../domain/job.ts';
import type { Failure } from '../domain/task.ts';
import type { Begun, NewTask } from './task-store.ts';

/** A job that is about to be accepted. */
export type NewJob = Pick<
  Job,
  'id' | 'accountId' | 'tokenId' | 'visibleModels' | 'requestId' | 'repeatable' | 'createdAt'
> &
  Pick<NewTask, 'idempotency' | 'caps'> & {
    readonly call: JobCall;
    /** Of the create itself; until it is given up the job may be withdrawn. */
    readonly lease?: { readonly name: string; readonly worker: string; readonly until: number } | undefined;
  };

export interface TakenJob {
  readonly job: Job;
  readonly call: JobCall;
}

/** Back into the queue. */
export interface Requeue {
  /** How often it had been started when this was decided: another start since then forbids it. */
  readonly starts: number;
  readonly at: number;
  readonly dueAt: number;
  /** For people. */
  readonly why: string;
}

export interface JobFinish {
  readonly state: 'completed' | 'failed';
  readonly at: number;
  readonly answer?: JobAnswer | undefined;
  readonly failure?: Failure | undefined;
  /** Puts it before a person, in the same transaction. */
  readonly attention?: { readonly reason: string; readonly detail: string } | undefined;
}

/** Jobs, each changed by whoever can name its lease, and ended once. */
export interface JobStore {
  /** Writes the job, its call, its key and its counters, or nothing; nothing either, and it throws, once the signal is aborted. */
  beginJob(job: NewJob, signal?: AbortSignal): Promise<Begun>;
  findJob(jobId: string): Promise<Job | undefined>;
  /** Takes due jobs: the tokens share alike, and of a token the one that has waited longest goes first. Until the lease ends nobody else takes them. */
  leaseJobs(options: {
    readonly worker: string;
    readonly lease: string;
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly TakenJob[]>;
  /** Gives the jobs whose leases stand, and last until then from now on. */
  renewLeases(leases: readonly JobLease[], now: number, until: number): Promise<ReadonlySet<string>>;
  /** From now on the upstream may have been called. Says whether the lease stands. */
  startJob(lease: JobLease, at: number): Promise<boolean>;
  requeueJob(lease: JobLease, requeue: Requeue): Promise<boolean>;
  /** Compare-and-set, with the counters in one transaction; what it was asked is forgotten. Says whether it won. */
  finishJob(lease: JobLease, finish: JobFinish): Promise<boolean>;
  /** Takes back a job that was never started, with its key and its counters. */
  withdrawJob(lease: JobLease): Promise<boolean>;
  /** Jobs whose lease ended before this time. */
  lostJobs(now: number, limit: number): Promise<readonly { readonly job: Job; readonly lease: JobLease }[]>;
  listJobs(
    filter: { readonly accountId?: string | undefined; readonly state?: string | undefined },
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly Job[]>;
  /** How many have not ended, by state, and when the oldest of each was created. */
  pendingJobs(): Promise<readonly { readonly state: string; readonly count: number; readonly oldestAt: number }[]>;
}

/** What goes when nobody needs it any more. Several processes may remove at once. */
export interface JobRetentionStore {
  /** Objects of the requests of jobs that have ended. */
  spentBodies(limit: number): Promise<readonly { readonly jobId: string; readonly object: string }[]>;
  forgetBodies(jobIds: readonly string[]): Promise<void>;
  /** Jobs that ended before a time, with the objects that they claim. One that waits for a person or has a living key stays. */
  oldJobs(which: {
    readonly before: number;
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly { readonly jobId: string; readonly objects: readonly string[] }[]>;
  /** Removes them with all that was written of them. */
  removeJobs(jobIds: readonly string[]): Promise<void>;
}
