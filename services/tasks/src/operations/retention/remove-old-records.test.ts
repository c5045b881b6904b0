import { expect, test, describe } from '@jest/globals';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { aRegeneration } from '../../../testing/orders.ts';
import type { Task } from '../../domain/task.ts';
import { completeTask } from '../polls/apply-report.ts';
import { removeOldTasks, removeOldJobs } from './remove-old-records.ts';
import { settleTask } from '../ends/end-task.ts';
import { aCall, anAnswer } from '../../../testing/jobs/new-jobs.ts';
import { LIMITS, useJobWorlds } from '../../../testing/jobs/open-job-world.ts';
import type { JobWorld } from '../../../testing/jobs/open-job-world.ts';
import type { JobLease } from '../../domain/job.ts';
import { finishJob, getJob, leaseJobs, startJob } from '../jobs/work-jobs.ts';

const open = useWorlds();
const DAY_MS = 24 * 3600 * 1000;

async function finished(world: World): Promise<Task> {
  const { task } = await world.create();
  await completeTask(world.deps, task, {
    phase: 'succeeded',
    status: 'succeeded',
    url: 'https://upstream.example/v.mp4',
  });
  const ended = (await world.deps.store.find(task.id))!;
  await settleTask(world.deps, ended, NO_SPAN);
  await world.deps.store.markSettled([ended.id], world.clock.now());
  return ended;
}

test('a finished task exists for its retention time, and is removed after it', async () => {
  const world = await open();
  const { id } = await finished(world);

  await world.clock.advance(90 * DAY_MS);
  await removeOldTasks(world.deps, 90 * DAY_MS);
  expect(await world.deps.store.find(id)).toBeDefined();

  await world.clock.advance(1);
  await removeOldTasks(world.deps, 90 * DAY_MS);
  expect(await world.deps.store.find(id)).toBeUndefined();
  expect(await world.deps.store.inFlight('total')).toBe(0);
});

test('a regeneration stays when its source is removed', async () => {
  const world = await open();
  const { id } = await finished(world);
  const { task } = await world.create(aRegeneration({ sourceTaskId: id }));

  await world.clock.advance(91 * DAY_MS);
  await removeOldTasks(world.deps, 90 * DAY_MS);
  expect(await world.deps.store.find(id)).toBeUndefined();

  await completeTask(world.deps, task, {
    phase: 'succeeded',
    status: 'succeeded',
    url: 'https://upstream.example/w.mp4',
  });
  expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'completed', seconds: 5 });
});

test('one pass removes one batch of old tasks, and leaves the rest to the next', async () => {
  const world = await open();
  const limits: number[] = [];
  const store = {
    ...world.deps.store,
    removeFinished: async ({ limit }: { readonly limit: number }) => {
      limits.push(limit);
      return limit;
    },
  };

  expect(await removeOldTasks({ ...world.deps, store }, DAY_MS)).toBe(0);

  expect(limits).toEqual([200]);
});

const openJobs = useJobWorlds();
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
    const own = await started(world, { call: aCall({ body: { case: 'object', value: 'prv_body' } }), ...keyed('k') });
    await finishJob(world.deps, own, { answer: anAnswer({ body: { case: 'object', value: 'prv_answer' } }) });
    return own.jobId;
  };

  test('removes the request of an ended job at once, and the rest when the job is old', async () => {
    const world = await openJobs();
    await started(world, { call: aCall({ body: { case: 'object', value: 'prv_needed' } }) });
    const jobId = await ended(world);

    await removeOldJobs(world.deps);
    expect(world.media.removed).toEqual(['prv_body']);
    expect(await getJob(world.deps, 'acme', jobId)).toMatchObject({
      state: 'completed',
      answer: { body: { case: 'object', value: 'prv_answer' } },
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
    const world = await openJobs();
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
