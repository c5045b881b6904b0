import { computeRestMs } from '@reelgate/platform/lifecycle/worker';
import { nameFailure } from '../../domain/failure-cause.ts';
import type { JobLease } from '../../domain/job.ts';
import type { Job, JobOutcome, TakenJob } from '../../store/job-store.ts';
import { endLostJob, logReturned } from './end-lost-jobs.ts';
import type { JobDeps } from './job-deps.ts';
import { writeJobSpan } from '../tracing/lifetime-span.ts';
import { jobNotFound, leaseLost } from '../task-refusals.ts';

const TAKEN_MAX = 64;

export interface LeasedJobs {
  /** `overdue`: the job has waited too long. Its worker ends it and releases its money. */
  readonly taken: readonly (TakenJob & { readonly overdue: boolean })[];
  readonly lease: string;
  /** The time in milliseconds in which no job becomes due without an announcement; 0: it is not known. */
  readonly restMs: number;
}

/** Leases queued jobs to a worker, under one new lease. */
export async function leaseJobs(
  { jobs, clock, newId, limits }: JobDeps,
  worker: string,
  limit: number,
): Promise<LeasedJobs> {
  const now = clock.now();
  const lease = newId('lease');
  const restMs = computeRestMs((await jobs.findFirstDue()) ?? Infinity, now);
  if (restMs > 0) return { taken: [], lease, restMs };
  const taken = await jobs.leaseJobs({
    worker,
    lease,
    now,
    until: now + limits.leaseMs,
    limit: Math.min(Math.max(limit, 1), TAKEN_MAX),
  });
  const isOverdue = ({ job }: TakenJob): boolean => job.createdAt < now - limits.deadlineMs;
  return { taken: taken.map((one) => ({ ...one, overdue: isOverdue(one) })), lease, restMs };
}

/** Withdraws a job that its creator cannot pay for. Returns whether the lease was still valid. */
export async function withdrawJob(deps: JobDeps, lease: JobLease): Promise<boolean> {
  const job = await deps.jobs.withdrawJob(lease);
  if (job === undefined) return false;
  deps.log.info({ taskId: lease.jobId }, 'a job was withdrawn');
  writeJobSpan(deps, job, { state: 'withdrawn', at: deps.clock.now() });
  return true;
}

/** Renews leases and returns the ids of the jobs with an ended lease. */
export async function renewLeases(
  { jobs, clock, limits }: JobDeps,
  leases: readonly JobLease[],
): Promise<readonly string[]> {
  const now = clock.now();
  const kept = await jobs.renewLeases(leases, now, now + limits.leaseMs);
  return leases.map(({ jobId }) => jobId).filter((jobId) => !kept.has(jobId));
}

/**
 * Records the intent to call the upstream, before the call. If the lease has ended, it throws, and the call must not
 * follow.
 */
export async function startJob({ jobs, clock, log }: JobDeps, lease: JobLease): Promise<void> {
  if (!(await jobs.startJob(lease, clock.now()))) throw leaseLost();
  log.info({ taskId: lease.jobId }, 'a job was started');
}

export interface ReturnOptions {
  /** It is certain that the upstream was not called. */
  readonly untouched: boolean;
  readonly delayMs: number;
}

/** Takes back a job that its worker gives up. Returns whether the lease was still valid. */
export async function returnJob(
  deps: JobDeps,
  lease: JobLease,
  { untouched, delayMs }: ReturnOptions,
): Promise<boolean> {
  const job = await deps.jobs.findJob(lease.jobId);
  if (job === undefined) return false;
  if (!untouched) return endLostJob(deps, job, lease, 'the worker gave the job up');
  const now = deps.clock.now();
  const returned = await deps.jobs.requeueJob(lease, {
    starts: job.starts,
    at: now,
    dueAt: now + Math.max(0, delayMs),
    why: 'the worker gave the job up before the call',
  });
  if (returned) logReturned(deps, job, delayMs);
  if (returned && delayMs === 0) deps.announceQueued(job.id);
  return returned;
}

/** Ends a job, once. Returns whether this call ended it. */
export async function finishJob(deps: JobDeps, lease: JobLease, end: JobOutcome): Promise<boolean> {
  const { jobs, clock, count, announceEnded, log } = deps;
  const state = end.failure === undefined ? 'completed' : 'failed';
  const at = clock.now();
  if (!(await jobs.finishJob(lease, { state, at, ...end }))) return false;
  const job = await jobs.findJob(lease.jobId);
  const code = nameFailure(end.failure?.code);
  if (job !== undefined) {
    announceEnded(job);
    writeJobSpan(deps, job, { state, at, code });
  }
  count.jobEnded(job?.endpoint ?? '', state);
  log.info({ taskId: lease.jobId, endpoint: job?.endpoint, state, code }, 'a job ended');
  return true;
}

/** Reads a job for its owner. For other accounts the job does not exist. */
export async function getJob({ jobs }: JobDeps, accountId: string, jobId: string): Promise<Job> {
  const job = await jobs.findJob(jobId);
  if (job?.accountId !== accountId) throw jobNotFound();
  return job;
}
