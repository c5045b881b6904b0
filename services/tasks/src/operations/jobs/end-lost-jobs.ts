import { decideAfterLoss } from '../../domain/job.ts';
import type { JobLease } from '../../domain/job.ts';
import type { Job } from '../../store/job-store.ts';
import type { JobDeps } from './job-deps.ts';
import { writeJobSpan } from '../tracing/lifetime-span.ts';
import { workSpan } from '../tracing/work-span.ts';

const UNKNOWN = {
  code: 'outcome_unknown',
  message:
    'the service stopped during the call; the outcome of the call is unknown, and the service does not repeat it',
};
const DETAIL =
  'the upstream may have been called, and no answer was received; the call is not repeated. ' +
  'Decide as completed to charge the hold, or as failed to release it';

const BATCH_MAX = 100;

/**
 * Runs one pass over jobs with an ended lease. For one lease time after the start of this service it does not touch
 * them, because living workers could not renew while the service was down. Returns how many jobs it moved.
 */
export async function sweepJobs(deps: JobDeps, upSince: number): Promise<number> {
  const { jobs, clock, limits } = deps;
  const now = clock.now();
  if (now - upSince < limits.leaseMs) return 0;
  let moved = 0;
  for (const { job, lease } of await jobs.lostJobs(now, BATCH_MAX)) {
    if (await endLostJob(deps, job, lease, 'the worker is gone')) moved += 1;
  }
  return moved;
}

/**
 * Decides on a job without a living worker. A job that was not started, or has a repeatable call, returns to the queue.
 * Any other job fails with an unknown outcome, and a person must decide. Returns whether the lease was still valid.
 */
export async function endLostJob(deps: JobDeps, job: Job, lease: JobLease, why: string): Promise<boolean> {
  const { jobs, clock, log, count } = deps;
  const at = clock.now();
  if (decideAfterLoss(job) === 'queue') {
    const returned = await jobs.requeueJob(lease, { starts: job.starts, at, dueAt: at, why });
    if (returned) {
      workSpan(deps, job, 'recover job', { attributes: { 'reelgate.resumed': true } }).end();
      logReturned(deps, job, 0);
      deps.announceQueued(job.id);
    }
    return returned;
  }
  if (
    !(await jobs.finishJob(lease, {
      state: 'failed',
      at,
      failure: UNKNOWN,
      attention: { reason: 'unknown_outcome', detail: DETAIL },
    }))
  )
    return false;
  deps.announceEnded(job);
  writeJobSpan(deps, job, { state: 'failed', at, code: UNKNOWN.code });
  count.jobEnded(job.endpoint, UNKNOWN.code);
  count.attention('unknown_outcome');
  log.error({ taskId: job.id, requestId: job.requestId, endpoint: job.endpoint }, 'the outcome of a job is unknown');
  return true;
}

/** Says that a job waits in the queue again. */
export function logReturned({ log }: JobDeps, { id, requestId }: Job, delayMs: number): void {
  log.info({ taskId: id, requestId, delayMs }, 'a job waits in the queue');
}
