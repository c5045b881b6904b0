import { endLost } from './end-lost-job.ts';
import type { JobDeps } from './job-deps.ts';

const BATCH_MAX = 100;
const OVERDUE = { code: 'expired', message: 'the call could not be begun in time' };

/**
 * One pass over jobs whose lease is over, and over those that wait for too long. For the time of a lease after its own start it judges
 * none: workers that live could not renew while this service was away. Gives how many it moved.
 */
export async function sweepJobs(deps: JobDeps, upSince: number): Promise<number> {
  const { jobs, clock, limits, count } = deps;
  const now = clock.now();
  let moved = 0;
  const lost = now - upSince < limits.leaseMs ? [] : await jobs.lostJobs(now, BATCH_MAX);
  for (const { job, lease } of lost) {
    if (await endLost(deps, job, lease, 'its worker is gone')) moved += 1;
  }
  for (const job of await jobs.overdueJobs(now - limits.deadlineMs, BATCH_MAX)) {
    if (!(await jobs.finishWaiting(job.id, { state: 'failed', at: now, failure: OVERDUE }))) continue;
    count.jobEnded(job.endpoint, OVERDUE.code);
    moved += 1;
  }
  return moved;
}
