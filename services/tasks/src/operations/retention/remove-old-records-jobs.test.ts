import { describe, expect, test } from '@jest/globals';
import { aCall, anAnswer } from '../../../testing/jobs/new-jobs.ts';
import { LIMITS, useJobWorlds } from '../../../testing/jobs/open-job-world.ts';
import type { JobWorld } from '../../../testing/jobs/open-job-world.ts';
import type { JobLease } from '../../domain/job.ts';
import { removeOldJobs } from './remove-old-records.ts';
import { finishJob, getJob, leaseJobs, startJob } from '../jobs/work-jobs.ts';

const open = useJobWorlds();
const keyed = (key: string) => ({ idempotency: { key, fingerprint: 'f' } });

async function started(world: JobWorld, changes: Parameters<JobWorld['create']>[0]): Promise<JobLease> {
  await world.create(changes);
  const { taken, lease } = await leaseJobs(world.deps, 'gateway', 1);
  const own = { jobId: taken[0]!.job.id, lease };
  await startJob(world.deps, own);
  return own;
}

describe('removeOldJobs', () => {
  const ended = async (world: JobWorld): Promise<string> => {
    const own = await started(world, { call: aCall({ body: { object: 'prv_body' } }), ...keyed('k') });
    await finishJob(world.deps, own, { answer: anAnswer({ body: { object: 'prv_answer' } }) });
    return own.jobId;
  };

  test('removes the request of an ended job at once, and the rest when the job is old', async () => {
    const world = await open();
    await started(world, { call: aCall({ body: { object: 'prv_needed' } }) });
    const jobId = await ended(world);

    await removeOldJobs(world.deps);
    expect(world.media.removed).toEqual(['prv_body']);
    expect(await getJob(world.deps, 'acme', jobId)).toMatchObject({
      state: 'completed',
      answer: { body: { object: 'prv_answer' } },
    });

    await world.clock.advance(LIMITS.retentionMs);
    await removeOldJobs(world.deps);
    expect(await world.deps.jobs.findJob(jobId)).toBeDefined();
    await world.clock.advance(1);
    await removeOldJobs(world.deps);
    expect(world.media.removed).toEqual(['prv_body', 'prv_answer']);
    await expect(getJob(world.deps, 'acme', jobId)).rejects.toMatchObject({ reason: 'task_not_found' });
  });

  test('loses no object when media is down, or when this process dies between the steps', async () => {
    const world = await open();
    const jobId = await ended(world);
    world.journal.fail('media.removePrivate', new Error('away'));
    await expect(removeOldJobs(world.deps)).rejects.toThrow('away');
    world.journal.fail('store.removeJobs', new Error('died'));
    await world.clock.advance(LIMITS.retentionMs + 1);
    await expect(removeOldJobs(world.deps)).rejects.toThrow('died');

    expect(world.media.removed).toEqual(['prv_body', 'prv_answer']);
    const next = await world.restart();
    await removeOldJobs(next.deps);
    expect(await next.deps.jobs.findJob(jobId)).toBeUndefined();
    expect(next.media.removed).toEqual(['prv_body', 'prv_answer', 'prv_answer']);
  });
});
