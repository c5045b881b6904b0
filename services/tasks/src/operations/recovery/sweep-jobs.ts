import { endLost } from './end-lost-job.ts';
import type { JobDeps } from '../jobs/job-deps.ts';

const BATCH_MAX = 100;

/**
 * One pass over jobs whose lease is over. For the time of a lease after its own start it judges none: workers that live could not renew
 * while this service was away. Gives how many it moved.
 */
export async function sweepJobs(deps: JobDeps, upSince: number): Promise<number> {
  const { jobs, clock, limits } = deps;
  const now = clock.now();
  if (now - upSince < limits.leaseMs) return 0;
  let moved = 0;
  for (const { job, lease } of await jobs.lostJobs(now, BATCH_MAX)) {
    if (await endLost(deps, job, lease, 'its worker is gone')) moved += 1;
  }
  return moved;
}
