import { expect, test } from '@jest/globals';
import { useJobWorlds } from '../../testing/jobs/open-job-world.ts';
import { useWorlds } from '../../testing/open-world.ts';
import { leaseJobs, startJob } from '../operations/jobs/work-jobs.ts';
import { notifyAttention, notifyJobAttention } from './notify-attention.ts';

const open = useWorlds();
const openJobs = useJobWorlds();
const AT = 1_000_000;

/** A task, and a store that tells of it. */
async function withTold() {
  const { deps, create } = await open();
  const { task } = await create();
  const told: string[] = [];
  const store = notifyAttention(deps.store, (id) => told.push(id));
  const raise = () => store.raise({ taskId: task.id, reason: 'unknown_status', detail: '', since: AT });
  return { store, id: task.id, told, raise };
}

test('a task that begins and ceases to wait for a person is told of once each', async () => {
  const { store, id, told, raise } = await withTold();
  await raise();
  await raise();
  expect(told).toEqual([id]);

  await store.resolve(id, { resolution: 'retry', actor: 'ann', at: AT });
  await store.resolve(id, { resolution: 'retry', actor: 'ann', at: AT });
  expect(told).toEqual([id, id]);
});

test('the end of a task that waits is told of, and that of another is not', async () => {
  const { store, id, told, raise } = await withTold();
  await raise();

  await store.finish(id, { state: 'completed', at: AT });
  await store.finish('task_none', { state: 'completed', at: AT });

  expect(told).toEqual([id, id]);
});

test('a job that ends with an unknown outcome is told of', async () => {
  const { deps, create } = await openJobs();
  const { job } = await create();
  const { lease } = await leaseJobs(deps, 'worker_1', 1);
  await startJob(deps, { jobId: job.id, lease });
  const told: string[] = [];
  const store = notifyJobAttention(deps.jobs, (id) => told.push(id));
  const failure = { code: 'outcome_unknown', message: '' };
  const attention = { reason: 'unknown_outcome', detail: '' };

  await store.finishJob({ jobId: job.id, lease }, { state: 'failed', at: AT, failure, attention });

  expect(told).toEqual([job.id]);
});
