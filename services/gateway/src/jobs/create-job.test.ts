import { expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { aGate } from '@reelgate/platform/testing/bounded-waits';
import { aJobFixture } from '../../testing/a-job-fixture.ts';
import type { JobFixture } from '../../testing/a-job-fixture.ts';
import { until } from '@reelgate/platform/testing/until';
import { parseCall } from '../relay/routes/read-call.ts';
import { relayEndpoints } from '../relay/endpoints.ts';
import { createJob } from './create-job.ts';

const principal = {
  accountId: 'demo',
  tokenId: 'token-1',
  models: ['*'],
  expiresAt: undefined,
  webhooks: 'write',
  tokenName: 'ci',
  tokens: 'none',
} as const;
const KEYED = { idempotencyKey: 'k', requestFingerprint: 'f' };
const SMALL = 10;
const LARGE = 100_000;

/** A chat whose prompt has `length` characters. With the path of the token count, the call is free. */
function callOf(length: number, path = '/v1/chat/completions') {
  const body = Buffer.from(
    JSON.stringify({ model: 'some-model', messages: [{ role: 'user', content: 'x'.repeat(length) }] }),
  );
  const endpoint = relayEndpoints.find((one) => one.path === path)!;
  return parseCall({
    endpoint,
    path,
    params: {},
    contentType: 'application/json',
    body,
    search: '',
    headers: [],
    requestId: 'req_1',
    principal,
  });
}

const queue = async (
  world: JobFixture,
  call = callOf(LARGE),
  idempotency?: { readonly idempotencyKey: string; readonly requestFingerprint: string },
) =>
  createJob(
    { ...world.deps, media: world.media.port, newId: newIds(world.clock), log: silentLog },
    { call: await call, idempotency },
  );

const leaseIds = async ({ deps }: JobFixture): Promise<(string | undefined)[]> => {
  const { jobs } = await deps.jobs.leaseJobs({ worker: 'gateway', limit: 1 });
  return jobs.map(({ lease }) => lease?.jobId);
};

test('a large body is stored once the call is queued and paid for, under the name that its job has', async () => {
  const world = aJobFixture();
  const seen: string[] = [];
  const { hold } = world.relay.relay;
  world.relay.relay.hold = async (...args) => {
    seen.push(`held, ${world.tasks.jobs.size} jobs, ${world.media.kept.size} kept`);
    return hold(...args);
  };
  const { id } = await queue(world);

  expect(seen).toEqual(['held, 1 jobs, 0 kept']);
  expect(world.tasks.calls).toEqual(['createJob', `returnJob untouched 0 ${id}`]);
  expect(world.tasks.single().request.call?.body).toEqual({ case: 'object', value: [...world.media.kept.keys()][0] });
});

test.each<[string, (world: JobFixture) => unknown, string]>([
  [
    'money',
    (world) => {
      world.relay.holdRefusal = new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'no' });
    },
    'insufficient_quota',
  ],
  [
    'a permit',
    (world) => {
      world.tasks.fail('createJob', 1, new Problem({ kind: 'exhausted', reason: 'too_many_tasks', message: 'no' }));
    },
    'too_many_tasks',
  ],
  [
    'a new key',
    (world) => queue(world, callOf(SMALL), { idempotencyKey: 'k', requestFingerprint: 'other' }),
    'idempotency_key_reused',
  ],
])('a large call that is refused for lack of %s has stored nothing', async (_what, prepare, reason) => {
  const world = aJobFixture();
  await prepare(world);
  let puts = 0;
  const { putPrivate } = world.media.port;
  world.media.port.putPrivate = async (...args) => {
    puts += 1;
    return putPrivate(...args);
  };

  await expect(queue(world, callOf(LARGE), KEYED)).rejects.toMatchObject({ reason });
  expect([puts, world.media.kept.size]).toEqual([0, 0]);
});

test('a replay stores nothing', async () => {
  const world = aJobFixture();
  const first = await queue(world, callOf(LARGE), KEYED);

  expect(await queue(world, callOf(LARGE), KEYED)).toEqual({ id: first.id, replayed: true });
  expect(world.media.kept.size).toBe(1);
});

test('a call whose bytes cannot be stored is withdrawn, its hold is released, and its bytes are removed', async () => {
  const world = aJobFixture();
  const { putPrivate } = world.media.port;
  world.media.port.putPrivate = async (...args) => {
    await putPrivate(...args);
    throw new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'the answer was lost' });
  };

  await expect(queue(world)).rejects.toMatchObject({ reason: 'service_unavailable' });
  expect([
    world.tasks.jobs.size,
    world.media.kept.size,
    world.relay.released.length,
    world.media.removed.length,
  ]).toEqual([0, 0, 1, 1]);
});

test('a worker gets a large free call only once its bytes are stored, and a small one at once', async () => {
  const world = aJobFixture();
  const gate = aGate();
  const { putPrivate } = world.media.port;
  world.media.port.putPrivate = async (...args) => {
    await gate.opened;
    return putPrivate(...args);
  };
  const creating = queue(world, callOf(LARGE, '/v1/messages/count_tokens'));
  await until(() => world.tasks.jobs.size === 1);
  expect(await leaseIds(world)).toEqual([]);

  // the lease lasts as long as the upload
  for (let seconds = 0; seconds < 60; seconds += 1) await world.clock.advance(1000);
  await until(() => world.tasks.renewed > 30);
  gate.open();
  const { id } = await creating;
  expect(await leaseIds(world)).toEqual([id]);
  expect(world.relay.released).toEqual([]);

  const small = await queue(world, callOf(SMALL, '/v1/messages/count_tokens'));
  expect(await leaseIds(world)).toEqual([small.id]);
});
