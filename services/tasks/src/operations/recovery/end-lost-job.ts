import { afterLoss } from '../../domain/job.ts';
import type { Job, JobLease } from '../../domain/job.ts';
import type { JobDeps } from '../jobs/job-deps.ts';

const UNKNOWN = {
  code: 'outcome_unknown',
  message:
    'the service stopped while the call was being made; whether it was carried out is not known, and it is not made a second time by itself',
};
const DETAIL =
  'the upstream may have been called, and no answer is known; the call is not made again. Decide as completed, which charges what is held, or as failed, which gives it back';

/**
 * Decides over a job whose worker is gone. One that was not started is queued again, and so is one whose call does no harm; any other
 * has an unknown outcome: it fails, and a person is told. Says whether the lease still stood.
 */
export async function endLost(deps: JobDeps, job: Job, lease: JobLease, why: string): Promise<boolean> {
  const { jobs, clock, log, count } = deps;
  const at = clock.now();
  if (afterLoss(job) === 'queue') {
    const returned = await jobs.requeueJob(lease, { starts: job.starts, at, dueAt: at, why });
    if (returned) deps.announceQueued(job.id);
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
  count.jobEnded(job.endpoint, UNKNOWN.code);
  count.attention('unknown_outcome');
  log.error({ taskId: job.id, endpoint: job.endpoint }, 'the outcome of a job is unknown');
  return true;
}
