import { endLostJob } from './end-lost-job.ts';
import type { JobDeps } from '../jobs/job-deps.ts';

const BATCH_MAX = 100;

/**
 * One pass over jobs whose lease has ended. For one lease time after the start of this service it touches none, because
 * living workers could not renew while the service was down. Returns how many jobs it moved.
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
