import type { JobDeps } from '../jobs/job-deps.ts';

const BATCH_MAX = 200;

/**
 * One pass over what nobody needs any more: the requests of jobs that have ended, and jobs that ended so long ago. The objects go before
 * the rows that name them, so that none is left behind. It takes a small batch, and the next one waits for its turn.
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
