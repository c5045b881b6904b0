import { expect, test } from '@jest/globals';
import { useJobWorlds } from '../../../testing/jobs/open-job-world.ts';
import type { JobWorld } from '../../../testing/jobs/open-job-world.ts';
import type { JobLease } from '../../domain/job.ts';
import { finishJob, leaseJobs, startJob, withdrawJob } from '../jobs/work-jobs.ts';
import { sweepJobs } from '../jobs/end-lost-jobs.ts';

const open = useJobWorlds();

/** Creates a job in a recorded call, and leases it to a worker. */
async function leased(world: JobWorld, isRecorded = true): Promise<JobLease> {
  const span = isRecorded ? world.tracing.root('create', { class: 'create' }) : undefined;
  const { job } = await world.create({ span });
  span?.end();
  const { lease } = await leaseJobs(world.deps, 'worker_1', 1);
  return { jobId: job.id, lease };
}

const jobSpans = ({ tracing }: JobWorld) => tracing.named('job chat');

test('the span of a job is written once, when the job ends, below its create', async () => {
  const world = await open();
  const lease = await leased(world);
  const job = await world.deps.jobs.findJob(lease.jobId);
  await startJob(world.deps, lease);
  expect(jobSpans(world)).toEqual([]);

  await Promise.all([finishJob(world.deps, lease, {}), finishJob(world.deps, lease, {})]);

  expect(jobSpans(world)).toMatchObject([
    {
      carrier: job?.trace,
      parent: world.tracing.named('create')[0]?.carrier,
      from: job?.createdAt,
      failed: undefined,
      attributes: { 'reelgate.task.id': lease.jobId, 'reelgate.task.state': 'completed', 'reelgate.task.attempt': 1 },
    },
  ]);
});

test('the span of a job is written when its creator withdraws it', async () => {
  const world = await open();
  const span = world.tracing.root('create', { class: 'create' });
  const { job, lease = '' } = await world.create({ span, worker: 'worker_1' });

  expect(await withdrawJob(world.deps, { jobId: job.id, lease })).toBe(true);
  expect(await withdrawJob(world.deps, { jobId: job.id, lease })).toBe(false);

  expect(jobSpans(world)).toMatchObject([{ attributes: { 'reelgate.task.state': 'withdrawn' } }]);
});

test('the span of a job is written when its worker is gone and its outcome is unknown', async () => {
  const world = await open();
  const lease = await leased(world);
  await startJob(world.deps, lease);
  const upSince = world.clock.now();
  await world.clock.advance(2 * world.deps.limits.leaseMs);

  await sweepJobs(world.deps, upSince);

  expect(jobSpans(world)).toMatchObject([{ failed: 'outcome_unknown' }]);
});

test('a job that goes back to the queue says so in its trace, and has no span of its own yet', async () => {
  const world = await open();
  await leased(world);
  const upSince = world.clock.now();
  await world.clock.advance(2 * world.deps.limits.leaseMs);

  await sweepJobs(world.deps, upSince);

  expect(world.tracing.named('recover job')).toMatchObject([{ attributes: { 'reelgate.resumed': true } }]);
  expect(jobSpans(world)).toEqual([]);
});

test('a job whose create is not recorded stores nothing and has no span', async () => {
  const world = await open();
  const lease = await leased(world, false);
  await startJob(world.deps, lease);
  await finishJob(world.deps, lease, {});

  expect(world.tracing.spans).toEqual([]);
  expect((await world.deps.jobs.findJob(lease.jobId))?.trace).toBeUndefined();
});
