import { describe, expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { bind } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { OperatorService, Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { anAnswer } from '../../testing/jobs/new-jobs.ts';
import { LIMITS, useJobWorlds } from '../../testing/jobs/open-job-world.ts';
import type { JobWorld } from '../../testing/jobs/open-job-world.ts';
import { useWorlds } from '../../testing/open-world.ts';
import { sweepJobs } from '../operations/jobs/end-lost-jobs.ts';
import { finishJob, leaseJobs, startJob } from '../operations/jobs/work-jobs.ts';
import { operatorService } from './operator-service.ts';

const openTasks = useWorlds();
const openJobs = useJobWorlds();

async function open() {
  const [tasks, world] = [await openTasks(), await openJobs()];
  return {
    world,
    client: directClient(
      OperatorService,
      bind(OperatorService, operatorService(tasks.deps, world.deps, tasks.operate)),
      aCaller(),
    ),
  };
}

async function started(world: JobWorld): Promise<{ readonly jobId: string; readonly lease: string }> {
  await world.create({ span: world.tracing.root('create', { class: 'create' }) });
  const { taken, lease } = await leaseJobs(world.deps, 'gateway-1', 1);
  const own = { jobId: taken[0]!.job.id, lease };
  await startJob(world.deps, own);
  return own;
}

async function lost(world: JobWorld): Promise<string> {
  const { jobId } = await started(world);
  await world.clock.advance(LIMITS.leaseMs);
  await sweepJobs(world.deps, 0);
  return jobId;
}

test('a job is shown with its history, and without its request and answer', async () => {
  const { world, client } = await open();
  const own = await started(world);
  await finishJob(world.deps, own, { answer: anAnswer() });

  const { record } = await client.showJob({ jobId: own.jobId });

  expect(record).toMatchObject({
    job: { id: own.jobId, state: TaskState.COMPLETED, answer: { statusCode: 200, size: 11n } },
    tokenId: 'token_1',
    endpoint: 'chat',
    model: 'some-model',
    starts: 1,
  });
  const { requestId, trace } = (await world.deps.jobs.findJob(own.jobId))!;
  expect(trace).toBeDefined();
  expect(record).toMatchObject({ requestId, traceId: trace!.split('-')[1] });
  expect(record?.job?.answer?.body.value).toEqual(new Uint8Array());
  expect(record?.events.map(({ type }) => type)).toEqual(['created', 'started', 'completed']);
  await expect(client.showJob({ jobId: 'task_1' })).rejects.toMatchObject({ kind: 'not_found' });
});

test('jobs are listed newest first, optionally of one account or state', async () => {
  const { world, client } = await open();
  const own = await started(world);
  const { job } = await world.create({ accountId: 'rival' });
  const ids = async (request: Parameters<typeof client.listJobRecords>[0]) =>
    (await client.listJobRecords(request)).records.map((record) => record.job?.id);

  expect(await ids({ limit: 10 })).toEqual([job.id, own.jobId]);
  expect(await ids({ limit: 10, accountId: 'rival' })).toEqual([job.id]);
  expect(await ids({ limit: 10, state: TaskState.IN_PROGRESS })).toEqual([own.jobId]);
  expect(await ids({ limit: 1, after: job.id })).toEqual([own.jobId]);
  await expect(ids({ accountId: 'acme', after: job.id })).rejects.toMatchObject({ kind: 'invalid', field: 'after' });
});

describe('a decision on a job with an unknown outcome', () => {
  test.each([
    [Resolution.COMPLETED, 'charged'],
    [Resolution.FAILED, 'released'],
  ] as const)('as %s leaves its hold %s, and takes effect once', async (resolution, how) => {
    const { world, client } = await open();
    const jobId = await lost(world);

    const { jobRecord, record } = await client.resolveAttention({ taskId: jobId, resolution, actor: 'ann' });

    expect([jobRecord?.job?.state, record]).toEqual([TaskState.FAILED, undefined]);
    expect(world.ended).toEqual([`${how} ${jobId}`]);
    expect(await world.tasks.listOpenAttention()).toEqual([]);
    await expect(client.resolveAttention({ taskId: jobId, resolution, actor: 'ann' })).rejects.toMatchObject({
      reason: 'not_in_attention',
    });
    expect(world.ended).toHaveLength(1);
  });

  test('is never to repeat the call', async () => {
    const { world, client } = await open();
    const jobId = await lost(world);

    await expect(
      client.resolveAttention({ taskId: jobId, resolution: Resolution.RETRY, actor: 'ann' }),
    ).rejects.toMatchObject({ kind: 'conflict', reason: 'job_not_retried' });
    expect(world.ended).toEqual([]);
    expect(await world.tasks.listOpenAttention()).toHaveLength(1);
  });
});
