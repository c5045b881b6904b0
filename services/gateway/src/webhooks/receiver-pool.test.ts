import { describe, expect, test } from '@jest/globals';
import { create } from '@bufbuild/protobuf';
import { Problem } from '@reelgate/platform/problem';
import { until, untilAfter } from '@reelgate/platform/testing/until';
import {
  LeaseWebhookReceiversResponseSchema,
  LeasedWebhookReceiverSchema,
} from '@reelgate/proto/tasks/v1/webhook_service';
import { LEASE_MS, aWebhookFixture, anAnswer, unavailable } from '../../testing/a-webhook-fixture.ts';
import type { WebhookFixture } from '../../testing/a-webhook-fixture.ts';
import { hideSecrets } from './start-webhooks.ts';
import type { LeasedPool } from '../operations/leased-pool.ts';

const FAILED = anAnswer({ statusCode: 500, answerHead: Buffer.from('no') });
const HANGS = anAnswer({ statusCode: 0, fault: 'timeout', durationMs: 15_000n });

const isDone =
  ({ work }: WebhookFixture) =>
  (): boolean =>
    work.due() === 0;
const outcomes = ({ work }: WebhookFixture, receiver: string): (string | undefined)[] =>
  work.recorded.filter(({ deliveryId }) => deliveryId.startsWith(`${receiver}-`)).map(({ attempt }) => attempt?.error);

/** Leases what is due once, and nothing later. */
function once({ work }: WebhookFixture): WebhookFixture['work']['client'] {
  const { leaseWebhookReceivers: lease } = work.client;
  const none = create(LeaseWebhookReceiversResponseSchema, { leaseMs: LEASE_MS });
  return { ...work.client, leaseWebhookReceivers: async (request) => (work.leases === 0 ? lease(request) : none) };
}

/** Waits for nothing that runs, and needs no time. */
const cutOff = (pool: LeasedPool): Promise<void> => pool.stop(AbortSignal.abort());

test('the secrets of a leased receiver print nothing', () => {
  const { secrets } = hideSecrets(create(LeasedWebhookReceiverSchema, { secrets: ['whsec_AQ=='] }));

  expect([secrets.map((secret) => secret.reveal()), JSON.stringify(secrets)]).toEqual([['whsec_AQ=='], '["***"]']);
});

describe('a pool of workers', () => {
  test('delivers all that is due, with no more receivers at one time than it has workers', async () => {
    const world = aWebhookFixture();
    for (let at = 0; at < 20; at += 1) {
      world.sender.receivers.set(`r${at}`, world.after(20));
      world.work.queue(`r${at}`, 3);
    }
    const pool = world.start({ workers: 4 });
    await untilAfter(world.clock, isDone(world));
    await cutOff(pool);

    expect(world.sender.requests).toHaveLength(60);
    expect(world.sender.mostHosts()).toBe(4);
    expect(new Set(world.work.recorded.map(({ deliveryId }) => deliveryId)).size).toBe(60);
  });

  test('has four requests to one receiver at one time', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('slow', world.after(100));
    world.work.queue('slow', 40);
    const pool = world.start();
    await untilAfter(world.clock, isDone(world));
    await cutOff(pool);

    expect([world.sender.most('slow'), world.sender.requests.length]).toEqual([4, 40]);
  });

  test('leases receivers when it is woken, and at intervals when it is not', async () => {
    const world = aWebhookFixture();
    const pool = world.start();
    await until(() => world.work.leases === 1);
    world.work.queue('one', 1);
    pool.wake();
    await until(() => world.work.leases === 2 && world.sender.requests.length === 1);
    await untilAfter(world.clock, isDone(world));
    world.work.queue('one', 1);
    await world.clock.advance(1000);
    await untilAfter(world.clock, isDone(world));

    expect(world.sender.requests).toHaveLength(2);
    await cutOff(pool);
  });

  test('leases no more often than twice for one delivery', async () => {
    const world = aWebhookFixture();
    world.work.queue('one', 1);
    const pool = world.start();
    await untilAfter(world.clock, () => world.work.returned.length === 1);
    await world.clock.advance(500);

    expect([world.work.leases, world.work.requests.length]).toEqual([2, 1]);
    await cutOff(pool);
  });

  test('delivers to others at once while one receiver hangs and one fails', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('hangs', world.after(15_000, HANGS));
    world.sender.receivers.set('fails', async () => FAILED);
    for (const name of ['hangs', 'fails', 'a', 'b', 'c']) world.work.queue(name, 32);
    const begin = world.clock.now();
    const pool = world.start({ workers: 5 });
    await untilAfter(world.clock, () => ['a', 'b', 'c'].every((name) => outcomes(world, name).length === 32));

    expect(world.clock.now() - begin).toBeLessThan(1000);
    expect(outcomes(world, 'hangs')).toEqual([]);
    await cutOff(pool);
  });

  test('goes on after a receiver whose deliveries cannot be leased', async () => {
    const world = aWebhookFixture();
    world.work.queue('one', 1);
    let failures = 1;
    const pool = world.start({
      webhooks: {
        ...world.work.client,
        leaseWebhookReceivers: async (request) => {
          failures -= 1;
          if (failures >= 0) throw unavailable();
          return world.work.client.leaseWebhookReceivers(request);
        },
      },
    });
    await untilAfter(world.clock, isDone(world));

    expect(outcomes(world, 'one')).toEqual(['']);
    await cutOff(pool);
  });
});

describe('a lease', () => {
  test('is given back with the last attempts, in one request for all receivers', async () => {
    const world = aWebhookFixture();
    world.work.queue('a', 3);
    world.work.queue('b', 2);
    const pool = world.start();
    await untilAfter(world.clock, isDone(world));

    expect(world.work.requests).toEqual([
      [
        expect.objectContaining({ receiverId: 'a', lease: 'lease_1', returned: true }),
        expect.objectContaining({ receiverId: 'b', lease: 'lease_1', returned: true }),
      ],
    ]);
    expect(world.work.recorded).toHaveLength(5);
    await cutOff(pool);
  });

  test('is given back after five failures in a row', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('fails', async () => FAILED);
    world.work.queue('fails', 32);
    const pool = world.start({ webhooks: once(world) });
    await untilAfter(world.clock, () => world.work.returned.length === 1);
    await cutOff(pool);

    // four are under way at one time, so a few more may have begun
    const made = outcomes(world, 'fails').length;
    expect(made).toBeGreaterThanOrEqual(5);
    expect(made).toBeLessThanOrEqual(8);
  });

  test('goes on over failures with a success between them', async () => {
    const world = aWebhookFixture();
    let requests = 0;
    world.sender.receivers.set('flaky', async () => ((requests += 1) % 4 === 0 ? anAnswer() : FAILED));
    world.work.queue('flaky', 32);
    const pool = world.start();
    await untilAfter(world.clock, () => world.work.returned.length === 1);

    expect(outcomes(world, 'flaky').filter((error) => error === 'status')).toHaveLength(24);
    expect(outcomes(world, 'flaky')).toHaveLength(32);
    await cutOff(pool);
  });

  test('has no attempt that begins 40 s after its begin', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('slow', world.after(13_000));
    world.work.queue('slow', 32);
    const pool = world.start({ webhooks: once(world) });
    await until(() => world.sender.running('slow') === 4);
    for (let second = 0; second < 60; second += 1) await world.clock.advance(1000);
    await cutOff(pool);

    // begun after 0, 13, 26 and 39 seconds
    expect([world.work.recorded.length, world.work.returned]).toEqual([16, ['slow']]);
  });

  test('is renewed while it is served, and not after it was given back', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('slow', world.after(13_000));
    world.work.queue('slow', 4);
    const pool = world.start({ webhooks: once(world) });
    await until(() => world.sender.running('slow') === 4);
    for (let second = 0; second < 14; second += 1) await world.clock.advance(1000);
    await untilAfter(world.clock, () => pool.running() === 0);
    const renewals = world.work.renewed.filter(({ length }) => length > 0).length;
    for (let second = 0; second < 10; second += 1) await world.clock.advance(1000);

    // more often than twice in the time of a lease
    expect(renewals).toBeGreaterThanOrEqual(6);
    expect(world.work.renewed.filter(({ length }) => length > 0)).toHaveLength(renewals);
    expect([world.work.recorded.length, world.work.returned]).toEqual([4, ['slow']]);
    await cutOff(pool);
  });

  test('that cannot be renewed begins nothing after its end, and what was under way is recorded', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('slow', world.after(4000));
    world.work.queue('slow', 32);
    const renewWebhookLeases = async (): Promise<never> => {
      throw unavailable();
    };
    const pool = world.start({ webhooks: { ...once(world), renewWebhookLeases } });
    await until(() => world.sender.running('slow') === 4);
    for (let second = 0; second < 30; second += 1) await world.clock.advance(1000);
    await cutOff(pool);

    // begun after 0, 4 and 8 seconds
    expect([world.sender.requests.length, world.work.recorded.length]).toEqual([12, 12]);
  });

  test('that has ended is renewed before this process leases again', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('slow', world.after(14_000));
    world.work.queue('slow', 1);
    let isAway = true;
    const order: string[] = [];
    const { client } = world.work;
    const webhooks: typeof client = {
      ...client,
      renewWebhookLeases: async (request) => {
        if (isAway) throw unavailable();
        order.push(...(request.leases ?? []).map(({ receiverId }) => `renew ${receiverId}`));
        return client.renewWebhookLeases(request);
      },
      leaseWebhookReceivers: async (request) => {
        if (isAway && world.work.leases > 0) throw unavailable();
        if (world.work.leases > 0) order.push('lease');
        return client.leaseWebhookReceivers(request);
      },
    };
    const pool = world.start({ webhooks });
    await until(() => world.sender.running('slow') === 1);
    for (let second = 0; second < 11; second += 1) await world.clock.advance(1000);
    isAway = false;
    pool.wake();
    await untilAfter(world.clock, () => order.includes('lease'));
    await untilAfter(world.clock, isDone(world));

    expect(order[0]).toBe('renew slow');
    expect([world.sender.requests.length, world.work.recorded.length]).toEqual([1, 1]);
    await cutOff(pool);
  });

  test('that was lost begins nothing more and is not given back', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('slow', world.after(100));
    world.work.queue('slow', 32);
    const pool = world.start({ webhooks: once(world) });
    await until(() => world.sender.running('slow') === 4);
    world.work.expire();
    await untilAfter(world.clock, () => pool.running() === 0);
    await cutOff(pool);

    // four more had begun before the record was answered
    expect(world.sender.requests).toHaveLength(8);
    expect([world.work.recorded, world.work.returned]).toEqual([[], []]);
    expect(world.work.requests.flat().some(({ returned }) => returned)).toBe(false);
  });
});

describe('a delivery that media cannot send', () => {
  test('is sent again after a pause, and no attempt is recorded meanwhile', async () => {
    const world = aWebhookFixture();
    let failures = 3;
    world.sender.receivers.set('one', async () => {
      failures -= 1;
      if (failures >= 0) throw unavailable();
      return anAnswer();
    });
    world.work.queue('one', 1);
    const pool = world.start();
    await untilAfter(world.clock, isDone(world));

    expect(outcomes(world, 'one')).toEqual(['']);
    expect(world.sender.requests).toHaveLength(4);
    await cutOff(pool);
  });

  test('is given back at the end of the lease without an attempt', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('one', async () => {
      throw unavailable();
    });
    world.work.queue('one', 1);
    const pool = world.start();
    for (let second = 0; second < 50; second += 1) await world.clock.advance(1000);
    await cutOff(pool);

    expect([world.work.returned[0], world.work.recorded]).toEqual(['one', []]);
    expect(world.sender.requests.length).toBeLessThan(20);
  });

  test('fails like any other attempt if media refuses it', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('one', async () => {
      throw new Problem({ kind: 'invalid', reason: 'invalid_request', message: 'must be a URL', field: 'url' });
    });
    world.work.queue('one', 1);
    const pool = world.start();
    await untilAfter(world.clock, isDone(world));

    expect(outcomes(world, 'one')).toEqual(['not_sent']);
    await cutOff(pool);
  });
});

describe('a pool that stops', () => {
  test('begins nothing, waits for running attempts, records them and gives the lease back', async () => {
    const world = aWebhookFixture();
    world.sender.receivers.set('slow', world.after(3000));
    world.work.queue('slow', 20);
    const pool = world.start();
    await until(() => world.sender.running('slow') === 4);
    const stopped = pool.stop();
    await untilAfter(world.clock, () => world.work.returned.length === 1);
    await stopped;

    expect(outcomes(world, 'slow')).toEqual(['', '', '', '']);
    expect([world.sender.requests.length, pool.running()]).toEqual([4, 0]);
  });

  test.each<[string, (world: WebhookFixture, over: AbortController) => Promise<void>]>([
    ['after the drain time', ({ clock }) => clock.advance(5000)],
    [
      'when its stop is over',
      async (_world, over) => {
        over.abort();
      },
    ],
  ])('cuts running attempts off %s, and their deliveries stay due', async (_when, end) => {
    const world = aWebhookFixture();
    world.sender.receivers.set('hangs', world.after(15_000, HANGS));
    world.work.queue('hangs', 4);
    const pool = world.start();
    await until(() => world.sender.running('hangs') === 4);
    const over = new AbortController();
    const stopped = pool.stop(over.signal);
    await world.clock.advance(0);
    await world.clock.advance(4000);
    expect(world.sender.running('hangs')).toBe(4);
    await end(world, over);
    await untilAfter(world.clock, () => world.work.returned.length === 1);
    await stopped;

    expect([world.sender.running('hangs'), world.work.due(), world.work.recorded]).toEqual([0, 4, []]);
  });

  test('gives back at once what a lease brings that was under way', async () => {
    const world = aWebhookFixture();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    world.work.queue('late', 3);
    const { client } = world.work;
    const leaseWebhookReceivers: typeof client.leaseWebhookReceivers = async (request) => {
      await promise;
      return client.leaseWebhookReceivers(request);
    };
    const pool = world.start({ webhooks: { ...client, leaseWebhookReceivers } });
    const stopped = pool.stop();
    resolve(undefined);
    await untilAfter(world.clock, () => world.work.returned.length === 1);
    await stopped;

    expect([world.sender.requests, world.work.due()]).toEqual([[], 3]);
  });

  test('is not kept waiting by records that cannot be written', async () => {
    const world = aWebhookFixture();
    world.work.refusal = unavailable;
    world.work.queue('one', 1);
    const pool = world.start();
    await untilAfter(world.clock, () => world.complaints.length > 0);
    let hasStopped = false;
    const stopped = pool.stop().then(() => (hasStopped = true));
    await world.clock.advance(0);
    await world.clock.advance(5000);
    await untilAfter(world.clock, () => hasStopped);
    await stopped;

    expect(world.work.due()).toBe(1);
  });

  test('can be stopped twice, and at any moment', async () => {
    const world = aWebhookFixture();
    for (let steps = 0; steps < 30; steps += 1) {
      world.work.queue('any', 7);
      world.sender.receivers.set('any', world.after(7));
      const pool = world.start();
      for (let step = 0; step < steps; step += 1) await world.clock.advance(3);
      let hasStopped = false;
      void Promise.all([pool.stop(), pool.stop()]).then(() => (hasStopped = true));
      await untilAfter(world.clock, () => hasStopped);
      expect(pool.running()).toBe(0);
    }
    const made = world.work.recorded.map(({ deliveryId }) => deliveryId);

    expect(new Set(made).size).toBe(made.length);
  });
});
