import type { Job, JobAnswer, JobLease } from '../../domain/job.ts';
import type { Failure } from '../../domain/task.ts';
import type { TakenJob } from '../../store/job-store.ts';
import { endLost } from '../recovery/end-lost-job.ts';
import type { JobDeps } from './job-deps.ts';
import { jobNotFound, leaseLost } from '../task-refusals.ts';

/** What one call renews. */
export const RENEWED_MAX = 1000;
const TAKEN_MAX = 64;

export interface LeasedJobs {
  /** `overdue`: it has waited for too long, and is to be ended by its worker, who can give its money back. */
  readonly taken: readonly (TakenJob & { readonly overdue: boolean })[];
  readonly lease: string;
}

/** Hands out jobs that nobody works on, under one new lease. */
export async function leaseJobs(
  { jobs, clock, newId, limits }: JobDeps,
  worker: string,
  limit: number,
): Promise<LeasedJobs> {
  const now = clock.now();
  const lease = newId('lease');
  const taken = await jobs.leaseJobs({
    worker,
    lease,
    now,
    until: now + limits.leaseMs,
    limit: Math.min(Math.max(limit, 1), TAKEN_MAX),
  });
  return { taken: taken.map((one) => ({ ...one, overdue: one.job.createdAt < now - limits.deadlineMs })), lease };
}

/** Takes back a job that its creator could not have paid for; says whether the lease still stood. */
export function withdrawJob({ jobs }: JobDeps, lease: JobLease): Promise<boolean> {
  return jobs.withdrawJob(lease);
}

/** Makes leases last anew; gives the jobs whose lease is over. */
export async function renewLeases(
  { jobs, clock, limits }: JobDeps,
  leases: readonly JobLease[],
): Promise<readonly string[]> {
  const now = clock.now();
  const kept = await jobs.renewLeases(leases, now, now + limits.leaseMs);
  return leases.map(({ jobId }) => jobId).filter((jobId) => !kept.has(jobId));
}

/** The intent, durable before the upstream is called; refused when the lease is over, and then nobody may call. */
export async function startJob({ jobs, clock }: JobDeps, lease: JobLease): Promise<void> {
  if (!(await jobs.startJob(lease, clock.now()))) throw leaseLost();
}

export interface GivenUp {
  /** The upstream was surely not called. */
  readonly untouched: boolean;
  readonly delayMs: number;
}

/** A worker gives a job up; says whether the lease still stood. */
export async function returnJob(deps: JobDeps, lease: JobLease, { untouched, delayMs }: GivenUp): Promise<boolean> {
  const job = await deps.jobs.findJob(lease.jobId);
  if (job === undefined) return false;
  if (!untouched) return endLost(deps, job, lease, 'its worker gave it up');
  const now = deps.clock.now();
  const returned = await deps.jobs.requeueJob(lease, {
    starts: job.starts,
    at: now,
    dueAt: now + Math.max(0, delayMs),
    why: 'its worker gave it up before the call',
  });
  if (returned && delayMs === 0) deps.announceQueued(job.id);
  return returned;
}

/** Ends a job, once; says whether this call did. */
export async function finishJob(
  { jobs, clock, count, announceEnded }: JobDeps,
  lease: JobLease,
  end: { readonly answer?: JobAnswer | undefined; readonly failure?: Failure | undefined },
): Promise<boolean> {
  const state = end.failure === undefined ? 'completed' : 'failed';
  if (!(await jobs.finishJob(lease, { state, at: clock.now(), ...end }))) return false;
  const job = await jobs.findJob(lease.jobId);
  if (job !== undefined) announceEnded(job);
  count.jobEnded(job?.endpoint ?? '', state);
  return true;
}

/** A job for its owner; to anybody else it does not exist. */
export async function getJob({ jobs }: Pick<JobDeps, 'jobs'>, accountId: string, jobId: string): Promise<Job> {
  const job = await jobs.findJob(jobId);
  if (job?.accountId !== accountId) throw jobNotFound();
  return job;
}
