import type { JobDeps } from '../jobs/job-deps.ts';

const BATCH_MAX = 200;

/**
 * One pass that removes the requests of ended jobs, and ended jobs that are older than the retention time. Objects are
 * removed before the rows that name them, so no object is left behind. Each pass handles one small batch.
 */
export async function removeOldJobs({ jobs, media, clock, limits, log }: JobDeps): Promise<number> {
  const spent = await jobs.spentBodies(BATCH_MAX);
  if (spent.length > 0) await media.removePrivate(spent.map(({ object }) => object));
  await jobs.forgetBodies(spent.map(({ jobId }) => jobId));

  const now = clock.now();
  const old = await jobs.oldJobs({ before: now - limits.retentionMs, now, limit: BATCH_MAX });
  const objects = old.flatMap((job) => job.objects);
  if (objects.length > 0) await media.removePrivate(objects);
  await jobs.removeJobs(old.map(({ jobId }) => jobId));
  if (old.length > 0) log.info({ removed: old.length }, 'old jobs were removed');
  return 0;
}
