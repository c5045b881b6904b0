import type { JobAnswer, JobCall } from '@reelgate/proto/tasks/v1/job';
import type { JobLease, JobOrigin, LostJob } from '../domain/job.ts';
import type { Failure } from '../domain/task.ts';
import type { BeginResult, NewWork } from './task-store.ts';

/** The outcome of a call, as its worker reports it. */
export interface JobOutcome {
  readonly answer?: JobAnswer | undefined;
  readonly failure?: Failure | undefined;
}

/** A job. This service reads only the endpoint and the model of its call, and passes its answer on. */
export interface Job extends JobOrigin, LostJob, JobOutcome {
  readonly endpoint: string;
  readonly model: string;
  /** Its create has not ended, so it can still be withdrawn. */
  readonly isBeingCreated: boolean;
  readonly updatedAt: number;
  readonly finishedAt?: number | undefined;
}

/** A job before it is accepted. */
export interface NewJob extends JobOrigin, NewWork {
  readonly call: JobCall;
  /** The lease of the create. Until it is returned, the job may be withdrawn. */
  readonly lease?: { readonly name: string; readonly worker: string; readonly until: number } | undefined;
}

export interface TakenJob {
  readonly job: Job;
  readonly call: JobCall;
}

/** The return of a job to the queue. */
export interface Requeue {
  /** The number of starts when the return was decided. A later start forbids it. */
  readonly starts: number;
  readonly at: number;
  readonly dueAt: number;
  /** The reason, for the history. */
  readonly why: string;
}

export interface JobFinish extends JobOutcome {
  readonly state: 'completed' | 'failed';
  readonly at: number;
  /** Asks a person to decide, in the same transaction. */
  readonly attention?: { readonly reason: string; readonly detail: string } | undefined;
}

/** The beginning of a job. */
export interface JobBeginStore {
  /**
   * Writes the job, its call, its key and its counters in one transaction. Throws and does not write if the signal is
   * aborted.
   */
  beginJob(job: NewJob, signal?: AbortSignal): Promise<BeginResult>;
  /** Removes a job that was never started, with its key and its counters, and returns it. */
  withdrawJob(lease: JobLease): Promise<Job | undefined>;
}

export interface JobLeaseStore {
  /** The earliest moment at which a queued job is due. */
  findFirstDue(): Promise<number | undefined>;
  /**
   * Leases due jobs. Accounts share equally, and the tokens of an account among themselves; for a token the job that has
   * waited longest comes first.
   */
  leaseJobs(options: {
    readonly worker: string;
    readonly lease: string;
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly TakenJob[]>;
  /** Renews the leases that are still valid, and returns the ids of their jobs. */
  renewLeases(leases: readonly JobLease[], now: number, until: number): Promise<ReadonlySet<string>>;
  /** Ends every lease. Only for a start that no worker has survived. Returns how many it ended. */
  endLeases(now: number): Promise<number>;
  /** From now on the upstream may have been called. Returns whether the lease is still valid. */
  startJob(lease: JobLease, at: number): Promise<boolean>;
  requeueJob(lease: JobLease, requeue: Requeue): Promise<boolean>;
  /** Jobs with a lease that ended before this time. */
  lostJobs(now: number, limit: number): Promise<readonly { readonly job: Job; readonly lease: JobLease }[]>;
}

export interface JobFinishStore {
  /**
   * Ends the job by compare-and-set, writes its event, updates the counters and removes the call in one transaction.
   * Returns whether it won.
   */
  finishJob(lease: JobLease, finish: JobFinish): Promise<boolean>;
}

export interface JobReader {
  findJob(jobId: string): Promise<Job | undefined>;
  listJobs(
    filter: { readonly accountId?: string | undefined; readonly state?: string | undefined },
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly Job[]>;
}

export interface PendingJobReader {
  /** The number of unfinished jobs by state, and when the oldest of each was created. */
  pendingJobs(): Promise<readonly { readonly state: string; readonly count: number; readonly oldestAt: number }[]>;
}

/** The store of jobs. Only the holder of its lease changes a job, and a job ends once. */
export interface JobStore extends JobBeginStore, JobLeaseStore, JobFinishStore, JobReader, PendingJobReader {}

/** Removes old records. Several processes may remove at once. */
export interface JobRetentionStore {
  /** The request objects of ended jobs. */
  spentBodies(limit: number): Promise<readonly { readonly jobId: string; readonly object: string }[]>;
  forgetBodies(jobIds: readonly string[]): Promise<void>;
  /** Jobs that ended before a time, with their objects. A job that waits for a person or has a live key stays. */
  oldJobs(which: {
    readonly before: number;
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly { readonly jobId: string; readonly objects: readonly string[] }[]>;
  /** Removes jobs with their history. */
  removeJobs(jobIds: readonly string[]): Promise<void>;
}
