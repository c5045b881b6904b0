import { describe, expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { bind } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { useJobWorlds } from '../../testing/jobs/open-job-world.ts';
import type { Journal } from '../../testing/journal.ts';
import { useWorlds } from '../../testing/open-world.ts';
import { anOrder } from '../../testing/orders.ts';
import { catchRefusalFields } from '@reelgate/platform/testing/refusals';
import { someTokens } from '../../testing/tokens.ts';
import { jobService } from './job-service.ts';
import { toWireOrder } from '../operations/reads/work-messages.ts';
import { taskService } from './task-service.ts';

const openTasks = useWorlds();
const openJobs = useJobWorlds();
const TOKENS = someTokens({ token_1: {} });
const URL_A = 'https://hooks.example/a';
const URL_B = 'https://hooks.example/b';
const REFUSED = {
  kind: 'invalid',
  reason: 'invalid_webhook_url',
  field: 'webhook_url',
  message: 'must be an https URL on port 443, such as https://example.com/hooks',
};
const CALL = {
  endpoint: 'audio.speech',
  model: 'a-voice',
  method: 'POST',
  path: '/v1/audio/speech',
  body: { case: 'inline' as const, value: Buffer.from('{}') },
};

async function tasks() {
  const { deps, journal } = await openTasks();
  const client = directClient(TaskService, partialService(TaskService, taskService(deps, TOKENS)), aCaller());
  const request = (changes: object) => ({
    accountId: 'acme',
    tokenId: 'token_1',
    order: toWireOrder(anOrder()),
    ...changes,
  });
  return {
    journal,
    check: (changes: object) => client.checkOrder(request(changes)),
    create: async (changes: object) => (await client.createTask(request(changes))).task?.id,
  };
}

async function jobs() {
  const { deps, journal } = await openJobs();
  const client = directClient(JobService, bind(JobService, jobService(deps, TOKENS)), aCaller());
  return {
    journal,
    create: async (changes: object) =>
      (await client.createJob({ accountId: 'acme', tokenId: 'token_1', call: CALL, ...changes })).job?.id,
  };
}

const writtenUrls = ({ calls }: Journal): readonly unknown[] =>
  calls
    .filter(({ name }) => name === 'store.begin' || name === 'store.beginJob')
    .map(({ args: [row] }) => (row as { readonly webhookUrl?: string }).webhookUrl);

describe.each([
  ['a task', tasks],
  ['a job', jobs],
])('the create of %s', (_what, open) => {
  test('writes the URL that is told of its end, or none', async () => {
    const { create, journal } = await open();

    await create({ webhookUrl: URL_A });
    await create({});

    expect(writtenUrls(journal)).toEqual([URL_A, undefined]);
  });

  test('with a wrong URL is refused before anything is written', async () => {
    const { create, journal } = await open();

    expect(await catchRefusalFields(create({ webhookUrl: 'http://hooks.example/a' }))).toMatchObject(REFUSED);
    expect(writtenUrls(journal)).toEqual([]);
  });

  test('with the same key and URL is a repeat, and with another URL it is refused', async () => {
    const { create } = await open();
    const first = await create({ idempotencyKey: 'key', webhookUrl: URL_A });

    expect(await create({ idempotencyKey: 'key', webhookUrl: URL_A })).toBe(first);
    for (const webhookUrl of [URL_B, ''])
      expect(await catchRefusalFields(create({ idempotencyKey: 'key', webhookUrl }))).toMatchObject({
        reason: 'idempotency_key_reused',
      });
  });

  test('with a fingerprint compares the fingerprint alone', async () => {
    const { create } = await open();
    const named = { idempotencyKey: 'key', requestFingerprint: 'of the whole body' };
    const first = await create({ ...named, webhookUrl: URL_A });

    expect(await create({ ...named, webhookUrl: URL_B })).toBe(first);
  });
});

test.each([
  ['with a token', {}],
  ['without a token', { tokenId: '' }],
])('a check %s judges the URL too', async (_how, changes) => {
  const { check } = await tasks();

  await check({ ...changes, webhookUrl: URL_A });

  expect(await catchRefusalFields(check({ ...changes, webhookUrl: 'https://localhost/a' }))).toMatchObject({
    reason: 'invalid_webhook_url',
    field: 'webhook_url',
  });
});
