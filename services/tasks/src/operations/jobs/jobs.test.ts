import { describe, expect, test } from '@jest/globals';
import { REST_MAX_MS } from '@reelgate/platform/lifecycle/worker';
import { anAnswer } from '../../../testing/jobs/new-jobs.ts';
import { LIMITS, useJobWorlds } from '../../../testing/jobs/open-job-world.ts';
import type { JobWorld } from '../../../testing/jobs/open-job-world.ts';
import type { JobLease } from '../../domain/job.ts';
import { sweepJobs } from './end-lost-jobs.ts';
import { finishJob, getJob, leaseJobs, renewLeases, returnJob, startJob, withdrawJob } from './work-jobs.ts';

const open = useJobWorlds();
const DAY_MS = 24 * 3_600_000;
const keyed = (key: string, fingerprint = 'f') => ({ idempotency: { key, fingerprint } });
const GIVEN_UP = { untouched: false, delayMs: 0 };

async function lease({ deps }: JobWorld): Promise<JobLease> {
  const { taken, lease: name } = await leaseJobs(deps, 'gateway', 1);
  return { jobId: taken[0]!.job.id, lease: name };
}

async function started(world: JobWorld, changes: Parameters<JobWorld['create']>[0] = {}): Promise<JobLease> {
  await world.create(changes);
  const own = await lease(world);
  await startJob(world.deps, own);
  return own;
}

const stateOf = async ({ deps }: JobWorld, { jobId }: JobLease) => {
  const job = await deps.jobs.findJob(jobId);
  return [job?.state, job?.failure?.code];
};
const attention = async ({ tasks }: JobWorld): Promise<string[]> =>
  (await tasks.listOpenAttention()).map(({ taskId, reason }) => `${taskId} ${reason}`);

test('a job that is due later lets workers rest until then', async () => {
  const world = await open();
  expect(await leaseJobs(world.deps, 'gateway', 1)).toMatchObject({ taken: [], restMs: REST_MAX_MS });
  const own = await started(world);
  await returnJob(world.deps, own, { untouched: true, delayMs: 3000 });

  expect(await leaseJobs(world.deps, 'gateway', 1)).toMatchObject({ taken: [], restMs: 3000 });
  await world.clock.advance(3000);
  expect(await leaseJobs(world.deps, 'gateway', 1)).toMatchObject({ taken: [{}], restMs: 0 });
});

describe('createJob', () => {
  test('gives the job an id with its own prefix, and wakes the workers', async () => {
    const world = await open();
    const { job, replayed } = await world.create();

    expect(job.id).toMatch(/^job_[0-9a-v]{26}$/);
    expect([job.state, replayed]).toEqual(['queued', false]);
    expect(world.announced).toEqual([job.id]);
  });

  describe('under a key', () => {
    test('returns the first job in any state, and creates no second', async () => {
      const world = await open();
      const own = await started(world, keyed('k'));
      await finishJob(world.deps, own, { answer: anAnswer() });

      const again = await world.create(keyed('k'));

      expect([again.job.id, again.replayed]).toEqual([own.jobId, true]);
      expect((await leaseJobs(world.deps, 'gateway', 10)).taken).toEqual([]);
    });

    test('refuses a request with another body', async () => {
      const world = await open();
      await world.create(keyed('k'));

      await expect(world.create(keyed('k', 'another'))).rejects.toMatchObject({
        kind: 'unprocessable',
        reason: 'idempotency_key_reused',
      });
    });

    test('creates another job for another account, and after a day', async () => {
      const world = await open();
      const first = await world.create(keyed('k'));

      expect((await world.create({ ...keyed('k'), accountId: 'rival' })).replayed).toBe(false);
      await world.clock.advance(DAY_MS - 1);
      expect((await world.create(keyed('k'))).job.id).toBe(first.job.id);
      await world.clock.advance(1);
      expect((await world.create(keyed('k', 'another'))).replayed).toBe(false);
    });

    test('creates one job for fifty concurrent calls', async () => {
      const world = await open();
      const created = await Promise.all(Array.from({ length: 50 }, () => world.create(keyed('k'))));

      expect(new Set(created.map(({ job }) => job.id)).size).toBe(1);
      expect(created.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(await world.tasks.inFlight('jobs:total')).toBe(1);
    });

    test('is free again after a refusal', async () => {
      const world = await open({ perToken: 0 });
      await expect(world.create(keyed('k'))).rejects.toMatchObject({ reason: 'too_many_tasks' });

      expect(await world.deps.jobs.findKey('acme', 'k', world.clock.now())).toBeUndefined();
    });
  });

  test('of sixty at once admits the limit of the token, and another for each end', async () => {
    const world = await open();
    const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => world.create()));

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(LIMITS.perToken);
    for (const { reason } of outcomes.filter((outcome) => outcome.status === 'rejected'))
      expect(reason).toMatchObject({ kind: 'exhausted', reason: 'too_many_tasks', retryAfterMs: 5000 });
    const own = await lease(world);
    await startJob(world.deps, own);
    await finishJob(world.deps, own, { answer: anAnswer() });
    expect(world.endings).toEqual([`acme ${own.jobId}`]);
    await world.create();
    await expect(world.create()).rejects.toMatchObject({ reason: 'too_many_tasks' });
  });
});

test('a job is visible to its owner alone', async () => {
  const world = await open();
  const { job } = await world.create();

  expect((await getJob(world.deps, 'acme', job.id)).id).toBe(job.id);
  for (const [account, id] of [
    ['rival', job.id],
    ['acme', 'task_1'],
    ['acme', ''],
  ] as const) {
    await expect(getJob(world.deps, account, id)).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'task_not_found',
    });
  }
});

describe('a worker', () => {
  test('cannot start a job after its lease has ended', async () => {
    const world = await open();
    await world.create();
    const own = await lease(world);
    await world.clock.advance(LIMITS.leaseMs);

    await expect(startJob(world.deps, own)).rejects.toMatchObject({ kind: 'conflict', reason: 'job_lease_lost' });
  });

  test('keeps the leases that it renews, and learns which it has lost', async () => {
    const world = await open();
    const own = await started(world);
    await world.clock.advance(LIMITS.leaseMs - 1);

    expect(await renewLeases(world.deps, [own, { jobId: 'job_other', lease: own.lease }])).toEqual(['job_other']);
    await world.clock.advance(LIMITS.leaseMs - 1);
    expect(await sweepJobs(world.deps, 0)).toBe(0);
  });

  test('ends a job once, and a later end changes nothing', async () => {
    const world = await open();
    const own = await started(world);

    expect(await finishJob(world.deps, own, { answer: anAnswer() })).toBe(true);
    expect(await finishJob(world.deps, own, { failure: { code: 'x', message: 'y' } })).toBe(false);
    expect(await stateOf(world, own)).toEqual(['completed', undefined]);
    expect(world.counted).toEqual(['chat completed']);
  });

  test.each([
    ['before its start', false, false, { ...GIVEN_UP }, ['queued', undefined], 0],
    ['before the call', true, false, { ...GIVEN_UP, untouched: true }, ['queued', undefined], 0],
    ['during a repeatable call', true, true, { ...GIVEN_UP }, ['queued', undefined], 0],
    ['during the call', true, false, { ...GIVEN_UP }, ['failed', 'outcome_unknown'], 1],
  ] as const)('that gives up a job %s leaves it %#', async (_when, begun, repeatable, how, left, waiting) => {
    const world = await open();
    await world.create({ repeatable });
    const own = await lease(world);
    if (begun) await startJob(world.deps, own);

    expect(await returnJob(world.deps, own, how)).toBe(true);

    expect(await stateOf(world, own)).toEqual([...left]);
    expect(await attention(world)).toHaveLength(waiting);
    expect(await world.tasks.inFlight('jobs:total')).toBe(waiting === 1 ? 0 : 1);
  });

  test('that delays a job gets it again after the delay', async () => {
    const world = await open();
    const own = await started(world);
    await returnJob(world.deps, own, { untouched: true, delayMs: 5000 });

    expect((await leaseJobs(world.deps, 'gateway', 1)).taken).toEqual([]);
    await world.clock.advance(5000);
    expect((await leaseJobs(world.deps, 'gateway', 1)).taken).toHaveLength(1);
  });

  test('learns which jobs have waited for too long', async () => {
    const world = await open();
    await world.create();
    await world.clock.advance(LIMITS.deadlineMs + 1);
    await world.create();

    expect((await leaseJobs(world.deps, 'gateway', 2)).taken.map(({ overdue }) => overdue)).toEqual([true, false]);
  });
});

describe('a create that waits for its hold', () => {
  const create = async (world: JobWorld): Promise<JobLease> => {
    const { job, lease: name } = await world.create({ ...keyed('k'), worker: 'gateway' });
    return { jobId: job.id, lease: name! };
  };

  test('wakes no worker and keeps its key in use until its lease is returned', async () => {
    const world = await open();
    const own = await create(world);
    expect(world.announced).toEqual([]);
    await expect(world.create(keyed('k'))).rejects.toMatchObject({
      kind: 'conflict',
      reason: 'idempotency_key_in_use',
    });

    await returnJob(world.deps, own, { ...GIVEN_UP, untouched: true });

    expect(world.announced).toEqual([own.jobId]);
    expect((await world.create(keyed('k'))).job.id).toBe(own.jobId);
  });

  test('leaves nothing after it is withdrawn', async () => {
    const world = await open();
    const own = await create(world);

    expect(await withdrawJob(world.deps, own)).toBe(true);

    expect((await world.create(keyed('k', 'another body'))).replayed).toBe(false);
    await expect(getJob(world.deps, 'acme', own.jobId)).rejects.toMatchObject({ reason: 'task_not_found' });
  });

  test('is queued like any other job when its creator dies', async () => {
    const world = await open();
    const own = await create(world);
    await world.clock.advance(LIMITS.leaseMs);
    await sweepJobs(world.deps, 0);

    expect((await lease(world)).jobId).toBe(own.jobId);
    expect((await world.create(keyed('k'))).replayed).toBe(true);
  });
});

describe('sweepJobs', () => {
  const gone = async (world: JobWorld): Promise<void> => {
    await world.clock.advance(LIMITS.leaseMs);
    await sweepJobs(world.deps, 0);
  };

  test('queues a job again that its worker had not started', async () => {
    const world = await open();
    await world.create();
    const own = await lease(world);
    await gone(world);

    expect(await stateOf(world, own)).toEqual(['queued', undefined]);
    expect((await lease(world)).jobId).toBe(own.jobId);
    expect(await attention(world)).toEqual([]);
  });

  test('ends a job that may have been called, asks for a decision, and never repeats the call', async () => {
    const world = await open();
    const own = await started(world);
    await gone(world);
    await gone(world);

    expect(await stateOf(world, own)).toEqual(['failed', 'outcome_unknown']);
    expect(await attention(world)).toEqual([`${own.jobId} unknown_outcome`]);
    expect((await leaseJobs(world.deps, 'gateway', 10)).taken).toEqual([]);
    expect(world.counted).toEqual(['chat outcome_unknown', 'attention unknown_outcome']);
    expect(await finishJob(world.deps, own, { answer: anAnswer() })).toBe(false);
  });

  test('repeats a repeatable call a limited number of times', async () => {
    const world = await open();
    const own = await started(world, { repeatable: true });
    for (let start = 2; start <= 5; start += 1) {
      await gone(world);
      await startJob(world.deps, await lease(world));
    }
    await gone(world);

    expect(await stateOf(world, own)).toEqual(['failed', 'outcome_unknown']);
  });

  test('keeps leases that ended while this service was down for one more lease time', async () => {
    const world = await open();
    const own = await started(world);
    await world.clock.advance(10 * LIMITS.leaseMs);
    const upSince = world.clock.now();

    expect(await sweepJobs(world.deps, upSince)).toBe(0);
    await world.clock.advance(LIMITS.leaseMs - 1);
    expect(await sweepJobs(world.deps, upSince)).toBe(0);
    expect(await stateOf(world, own)).toEqual(['in_progress', undefined]);
    await world.clock.advance(1);
    expect(await sweepJobs(world.deps, upSince)).toBe(1);
  });
});
