import { expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { bind } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { JobEncoding } from '@reelgate/proto/tasks/v1/job';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { LIMITS, useJobWorlds } from '../../testing/jobs/open-job-world.ts';
import { someTokens } from '../../testing/tokens.ts';
import { jobService } from './job-service.ts';

const open = useJobWorlds();
const CALL = {
  endpoint: 'audio.speech',
  model: 'a-voice',
  method: 'POST',
  path: '/v1/audio/speech',
  query: 'a=b',
  headers: [{ name: 'content-type', value: 'application/json' }],
  body: { case: 'inline' as const, value: Buffer.from([0, 255, 10, 13]) },
};

async function aService() {
  const world = await open();
  return {
    world,
    client: directClient(
      JobService,
      bind(JobService, jobService(world.deps, someTokens({ token_1: { models: ['a-voice'] } }))),
      aCaller(),
    ),
  };
}

const create = (changes: object = {}) => ({
  accountId: 'acme',
  tokenId: 'token_1',
  call: CALL,
  ...changes,
});

test('a job and its answer are unchanged by the wire', async () => {
  const { client } = await aService();
  const { job } = await client.createJob(create(), { requestId: 'req_7' });
  expect(job).toMatchObject({ accountId: 'acme', state: TaskState.QUEUED });

  const {
    jobs: [leased],
    leaseMs,
    keepMs,
  } = await client.leaseJobs({ worker: 'gateway', limit: 5 });
  expect(leased).toMatchObject({
    accountId: 'acme',
    tokenId: 'token_1',
    visibleModels: ['a-voice'],
    requestId: 'req_7',
    callId: job!.id,
    lease: { jobId: job!.id },
  });
  expect({ ...leased!.call, headers: leased!.call!.headers.map(({ name, value }) => ({ name, value })) }).toMatchObject(
    CALL,
  );
  expect([Number(leaseMs), Number(keepMs)]).toEqual([LIMITS.leaseMs, LIMITS.retentionMs]);

  await client.markJobStarted({ lease: leased!.lease! });
  expect((await client.renewJobLeases({ leases: [leased!.lease!] })).lostJobIds).toEqual([]);
  const answer = {
    statusCode: 200,
    contentType: 'audio/mpeg',
    encoding: JobEncoding.BASE64,
    size: 3n,
    body: { case: 'object' as const, value: 'prv_1' },
  };
  expect(await client.finishJob({ lease: leased!.lease!, answer })).toMatchObject({ finished: true });
  expect(await client.finishJob({ lease: leased!.lease!, answer })).toMatchObject({ finished: false });
  const read = (await client.getJob({ accountId: 'acme', jobId: job!.id })).job;
  expect(read).toMatchObject({ state: TaskState.COMPLETED, answer });
});

test('a replay returns the job as it was created', async () => {
  const { client } = await aService();
  const keyed = create({ idempotencyKey: 'k', requestFingerprint: 'f' });
  const first = await client.createJob(keyed);
  const {
    jobs: [leased],
  } = await client.leaseJobs({ worker: 'gateway', limit: 1 });
  await client.finishJob({ lease: leased!.lease!, failure: { code: 'x', message: 'y' } });

  const again = await client.createJob(keyed);

  expect([again.replayed, again.job]).toEqual([true, first.job]);
  expect((await client.getJob({ accountId: 'acme', jobId: first.job!.id })).job).toMatchObject({
    state: TaskState.FAILED,
    failure: { code: 'x', message: 'y' },
  });
});

test('a key without a fingerprint returns the job for the same call, and refuses another call', async () => {
  const { client } = await aService();
  const first = await client.createJob(create({ idempotencyKey: 'k' }));

  const again = await client.createJob(create({ idempotencyKey: 'k' }));
  expect([again.replayed, again.job?.id]).toEqual([true, first.job?.id]);

  const other = { ...CALL, body: { case: 'inline' as const, value: Buffer.from([0]) } };
  await expect(client.createJob(create({ idempotencyKey: 'k', call: other }))).rejects.toMatchObject({
    kind: 'unprocessable',
    reason: 'idempotency_key_reused',
  });
});

test.each([
  ['a missing call', create({ call: undefined }), 'call'],
  ['a missing endpoint', create({ call: { ...CALL, endpoint: '' } }), 'call.endpoint'],
  [
    'too many inline bytes',
    create({ call: { ...CALL, body: { case: 'inline', value: Buffer.alloc(64 * 1024 + 1) } } }),
    'call.inline',
  ],
])('a create with %s is refused, and nothing is written', async (_what, request, field) => {
  const { world, client } = await aService();

  await expect(client.createJob(request)).rejects.toMatchObject({ kind: 'invalid', reason: 'invalid_request', field });
  expect(world.journal.names()).toEqual([]);
});

test('a request to renew too many leases is refused', async () => {
  const { client } = await aService();

  await expect(
    client.renewJobLeases({ leases: Array.from({ length: 1001 }, () => ({ jobId: 'job_1', lease: 'lease_1' })) }),
  ).rejects.toMatchObject({ kind: 'invalid', field: 'leases' });
});

test('an empty or unknown lease changes nothing', async () => {
  const { client } = await aService();

  await expect(client.markJobStarted({})).rejects.toMatchObject({ kind: 'invalid', field: 'lease' });
  await expect(client.markJobStarted({ lease: { jobId: 'job_1', lease: 'lease_1' } })).rejects.toMatchObject({
    kind: 'conflict',
    reason: 'job_lease_lost',
  });
  expect(await client.returnJob({ lease: { jobId: 'job_1', lease: 'lease_1' } })).toMatchObject({ returned: false });
  expect((await client.renewJobLeases({ leases: [{ jobId: 'job_1', lease: 'lease_1' }] })).lostJobIds).toEqual([
    'job_1',
  ]);
});
