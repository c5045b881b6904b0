import { describe, expect, test } from '@jest/globals';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { untilAfter } from '@reelgate/platform/testing/until';
import { channelSettings } from '../../testing/channel-settings.ts';
import { LOST, refused } from '../../testing/fake-upstream.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { aContextIr, aRegeneration, aText, anImage, anOrder } from '../../testing/orders.ts';
import { LANE, QUEUE, countScopes, fill, listHeld, useQueueWorlds } from '../../testing/queue-world.ts';
import { outcomes } from '../../testing/store/opened-store.ts';
import { checkCreate } from '../operations/creates/check-create.ts';
import type { CreateRequest } from '../operations/create-context.ts';
import { cancelTask } from '../operations/ends/cancel-task.ts';
import { pauseChannel } from '../operations/operators/pause-channel.ts';
import { settleFinished } from './settle-finished.ts';

const open = useWorlds();
const openQueue = useQueueWorlds();
const MINUTE_MS = 60_000;
const PAUSE = { channel: 'main', actor: 'ops', reason: 'repairs' };
const { signal } = new AbortController();

const end = async ({ deps, clock }: World, taskId: string): Promise<void> => {
  await deps.store.finish(taskId, { state: 'failed', at: clock.now() });
};
const stateOf = async ({ deps }: World, taskId: string): Promise<string> => {
  const task = await deps.store.find(taskId);
  return `${String(task?.state)} ${String(task?.failure?.code ?? task?.admission)}`;
};

describe('a create that finds every channel full', () => {
  test('waits as a queued task with its hold, and counts nowhere in flight', async () => {
    const world = await openQueue();
    await fill(world);
    world.journal.clear();

    const { task, replayed } = await world.create();

    expect([task.state, task.admission, replayed]).toEqual(['queued', 'waiting', false]);
    expect(world.journal.names()).toEqual([
      'store.begin',
      'store.begin',
      'billing.placeHold',
      'store.startAttempt',
      'store.countWaiting',
      'store.enqueue',
    ]);
    expect(world.billing.holds.has(task.id)).toBe(true);
    expect(world.upstream.submitted).toHaveLength(1);
    expect(await countScopes(world)).toEqual([1, 1, 1]);
    expect(world.announced.at(-1)).toMatchObject({ id: task.id, state: 'queued' });
    expect(world.counted.filter((word) => word === 'created generation')).toHaveLength(2);
  });

  test('has its turn when a place is free, and is then a task like any other', async () => {
    const world = await openQueue();
    const first = await fill(world);
    const { task } = await world.create();
    await world.clock.advance(MINUTE_MS);
    await world.pass();
    expect(world.upstream.submitted).toHaveLength(1);

    await end(world, first);
    await world.pass();

    expect(await world.deps.store.find(task.id)).toMatchObject({
      state: 'queued',
      admission: 'accepted',
      mapping: { channel: 'main', upstreamId: 'up-2' },
    });
    expect(await countScopes(world)).toEqual([1, 1, 1]);
    expect(await outcomes(world.deps.store, task.id)).toEqual(['accepted']);
    expect(world.counted.filter((word) => word.startsWith('claim'))).toEqual(['claim claimed']);
    expect(world.counted.filter((word) => word === 'created generation')).toHaveLength(2);
  });

  test('is not overtaken by a later one, although a place is free', async () => {
    const world = await openQueue();
    const first = await fill(world);
    const { task: second } = await world.create();
    await end(world, first);

    const { task: third } = await world.create();
    expect(third.admission).toBe('waiting');
    await world.clock.advance(MINUTE_MS);
    await world.pass();

    expect(await stateOf(world, second.id)).toBe('queued accepted');
    expect(await stateOf(world, third.id)).toBe('queued waiting');
  });

  test('does not wait behind tasks that other channels do', async () => {
    const channels = [
      channelSettings({ inFlightMax: 1 }),
      channelSettings({ id: 'other', models: { Other: 'Other-1' } }),
    ];
    const world = await openQueue({ channels });
    world.deps.queue.lanes.add('["generation","Other-V1",null,[],"standard"]');

    expect((await world.create()).task.admission).toBe('accepted');
  });

  test('stages its media once, before it waits, and its attempt is built from them', async () => {
    const world = await openQueue();
    const first = await fill(world);
    const order = anOrder({ content: [aText(), anImage('first_frame')] });
    await world.create(order);
    await end(world, first);
    await world.clock.advance(MINUTE_MS);
    world.journal.clear();
    await world.pass();

    expect(world.journal.names()).not.toContain('media.stage');
    expect(world.upstream.submitted.at(-1)?.attempt.content).toEqual([
      { text: expect.any(String) },
      { media: 'image', role: 'first_frame', url: expect.stringContaining('https://gateway.example/ximg/') },
    ]);
  });

  test('that names a source waits for the upstream account of the source alone', async () => {
    const channels = [
      channelSettings({ inFlightMax: 2 }),
      channelSettings({ id: 'elsewhere', upstreamAccount: 'other vendor', inFlightMax: 1, priority: -1 }),
    ];
    const world = await openQueue({ channels });
    const { task: source } = await world.create();
    await world.deps.store.finish(source.id, {
      state: 'completed',
      at: 1,
      result: { object: 'obj_1', width: 1344, height: 768 },
    });
    const busy = [await fill(world), await fill(world)];
    const { task } = await world.create(aRegeneration({ sourceTaskId: source.id }));
    await world.clock.advance(MINUTE_MS);
    await world.pass();
    expect(await stateOf(world, task.id)).toBe('queued waiting');

    await end(world, busy[0]!);
    await world.pass();
    expect(world.upstream.submitted.at(-1)).toMatchObject({ channel: 'main', attempt: { sourceUpstreamId: 'up-1' } });
  });

  test('is returned to a repeat with its key', async () => {
    const world = await openQueue();
    await fill(world);
    const request: Partial<CreateRequest> = { idempotency: { key: 'k', fingerprint: 'f' } };
    const { task } = await world.create(anOrder(), request);

    expect(await world.create(anOrder(), request)).toMatchObject({ task: { id: task.id }, replayed: true });
  });

  test('is returned to its caller if the answer of the database to its wait is lost', async () => {
    const world = await openQueue();
    await fill(world);
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (name === 'store.enqueue') throw new StoreUnavailable('the line was cut');
      return answer;
    });

    const { task } = await world.create();

    expect([task.state, task.admission]).toEqual(['queued', 'waiting']);
    expect(listHeld(world)).toContain(task.id);
  });

  test('is refused with a time to retry if the database is away when it would wait', async () => {
    const world = await openQueue();
    await fill(world);
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'store.enqueue') throw new StoreUnavailable('the line was cut');
      return proceed();
    });

    await expect(world.create()).rejects.toMatchObject({ kind: 'unavailable', retryAfterMs: 2000 });
    expect(listHeld(world)).toHaveLength(1);
  });

  test('is refused without a time to retry while it is not known whether it waits', async () => {
    const world = await openQueue();
    await fill(world);
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'store.refuse') throw new StoreUnavailable('the line was cut');
      const answer = await proceed();
      if (name === 'store.enqueue') throw new StoreUnavailable('the line was cut');
      return answer;
    });

    await expect(world.create()).rejects.toMatchObject({ kind: 'unavailable', retryAfterMs: undefined });
  });

  test('passes the check without a create', async () => {
    const world = await openQueue();
    await fill(world);
    const request: CreateRequest = {
      ...{ accountId: 'acme', tokenId: 'token_1', makers: [], visibleModels: ['*'], order: anOrder(), beside: {} },
      ...{ wait: {}, tokenWait: { for: 'channels', class: 'standard' } },
    };
    expect(await checkCreate(world.deps, request)).toBeUndefined();
  });

  test.each<[string, Partial<typeof QUEUE>]>([
    ['of its account', { perAccount: 1 }],
    ['of the service', { total: 1 }],
  ])('is refused with a time to retry if too many tasks %s wait, and its hold is released', async (_whose, limits) => {
    const world = await openQueue({ queue: { ...QUEUE, ...limits } });
    await fill(world);
    await world.create();

    await expect(world.create()).rejects.toMatchObject({
      kind: 'exhausted',
      reason: 'queue_full',
      retryAfterMs: 30_000,
    });
    expect(world.counted).toContain('not queued queue_full');
    expect(listHeld(world)).toHaveLength(2);
    expect(await countScopes(world)).toEqual([1, 1, 1]);
  });

  test('is refused, and counted, if its turn is expected after the time within which it wants to start', async () => {
    const world = await openQueue();
    await fill(world);
    world.deps.queue.rates.record(LANE);

    const late = world.create(anOrder(), { wait: { startWithinMs: MINUTE_MS / 6 } });
    await expect(late).rejects.toMatchObject({ reason: 'would_wait_too_long', retryAfterMs: MINUTE_MS / 3 });
    expect((await world.create()).task.admission).toBe('waiting');
    expect(world.counted).toContain('not queued would_wait_too_long');
  });

  test('waits while circuits are open, and is refused while every channel is paused', async () => {
    const world = await openQueue();
    for (let times = 0; times < 5; times += 1) world.deps.channels.find('main')?.circuit.failed();
    expect((await world.create()).task.admission).toBe('waiting');

    const paused = await openQueue();
    await pauseChannel(paused.operate, PAUSE);
    await expect(paused.create()).rejects.toMatchObject({ reason: 'no_channel_available' });
  });

  test('is refused as before without the queue', async () => {
    const world = await open({ channels: [channelSettings({ inFlightMax: 1 })] });
    await fill(world);
    await expect(world.create()).rejects.toMatchObject({ reason: 'rate_limit_exceeded' });
  });
});

describe('a task that waits', () => {
  test('is cancelled at once, without its upstream, and its hold is released', async () => {
    const world = await openQueue();
    const first = await fill(world);
    const { task } = await world.create();

    expect(await cancelTask(world.deps, 'acme', task.id, signal)).toMatchObject({
      state: 'failed',
      failure: { code: 'cancelled' },
    });
    await world.clock.advance(MINUTE_MS);
    await settleFinished(world.deps);
    expect(listHeld(world)).toEqual([first]);
    await end(world, first);
    await world.clock.advance(MINUTE_MS);
    await world.pass();
    expect(world.upstream.submitted).toHaveLength(1);
  });

  test('fails when it has waited too long, and its hold is released', async () => {
    const world = await openQueue();
    await fill(world);
    const { task } = await world.create();
    await world.clock.advance(QUEUE.longestWaitMs.standard - 1);
    await world.pass();
    expect(await stateOf(world, task.id)).toBe('queued waiting');

    await world.clock.advance(1);
    await world.pass();
    expect(await stateOf(world, task.id)).toBe('failed queue_timeout');
    expect(world.counted.filter((word) => word.startsWith('expired'))).toEqual(['expired standard']);
    await world.clock.advance(MINUTE_MS);
    await settleFinished(world.deps);
    expect(listHeld(world)).toHaveLength(1);
  });

  test.each([
    ['content', 'content_rejected'],
    ['order', 'invalid_request'],
    ['unfit', 'invalid_request'],
  ] as const)('fails if the upstream refuses it at its turn for its %s', async (fault, code) => {
    const world = await openQueue();
    const first = await fill(world);
    const { task } = await world.create();
    await end(world, first);
    await world.clock.advance(MINUTE_MS);
    world.upstream.answer('main', refused(fault));
    await world.pass();

    expect(await stateOf(world, task.id)).toBe(`failed ${code}`);
    expect(await outcomes(world.deps.store, task.id)).toEqual(['refused']);
    expect(await countScopes(world)).toEqual([0, 0, 0]);
    expect(await world.sql.read('SELECT task_id FROM waiting')).toEqual([]);
  });

  test('goes to another channel if one cannot do it', async () => {
    const channels = [
      channelSettings({ inFlightMax: 1, priority: 1 }),
      channelSettings({ id: 'spare', inFlightMax: 1 }),
    ];
    const world = await openQueue({ channels });
    const busy = [await fill(world), await fill(world)];
    const { task } = await world.create();
    world.upstream.answer('main', refused('unfit'));
    await world.clock.advance(MINUTE_MS);
    await end(world, busy[0]!);
    await world.pass();
    expect(await world.deps.store.listLanes()).toEqual(['["generation","Alpha-H3",null,["main"],"standard"]']);

    await end(world, busy[1]!);
    await world.pass();
    expect(await world.deps.store.find(task.id)).toMatchObject({ mapping: { channel: 'spare' } });
    expect(await outcomes(world.deps.store, task.id)).toEqual(['refused', 'accepted']);
  });

  test.each([
    ['throttles', 'throttle', 7000],
    ['is at fault', 'channel', 100],
  ] as const)(
    'returns to its place if its upstream %s, and the channel is left alone',
    async (_does, fault, pauseMs) => {
      const world = await openQueue({ channels: [channelSettings({ inFlightMax: 1, requestsPerMinute: 6000 })] });
      const first = await fill(world);
      const { task } = await world.create();
      await end(world, first);
      await world.clock.advance(MINUTE_MS);
      world.upstream.answer('main', refused(fault, fault === 'throttle' ? pauseMs : undefined));
      await world.pass();
      expect(await stateOf(world, task.id)).toBe('queued waiting');
      expect(await countScopes(world)).toEqual([0, 0, 0]);

      await world.clock.advance(pauseMs - 1);
      await world.pass();
      expect(world.upstream.submitted).toHaveLength(2);
      await world.clock.advance(1);
      await world.pass();
      expect(await outcomes(world.deps.store, task.id)).toEqual(['refused', 'accepted']);
    },
  );

  test('waits in the lowest class after its third refusal, and keeps no create from its channel', async () => {
    const world = await openQueue({ channels: [channelSettings({ inFlightMax: 9, requestsPerMinute: 6000 })] });
    const atFault = Array.from({ length: 3 }, () => refused('channel'));
    world.upstream.answer('main', refused('throttle', 1000), ...atFault, refused('channel'));
    const { task } = await world.create();
    for (const pauseMs of [1000, 100, 200, 5000]) {
      await world.clock.advance(pauseMs);
      await world.pass();
    }

    expect(await outcomes(world.deps.store, task.id)).toHaveLength(5);
    expect(await world.deps.store.findPlace(task.id)).toMatchObject({
      ...{ lane: 'scheduled', nextLane: '["generation","Alpha-H3",null,[],"batch"]' },
      notBefore: world.clock.now() + 10_000,
    });
    world.upstream.answer('main');
    expect((await world.create()).task.admission).toBe('accepted');
    expect(await stateOf(world, task.id)).toBe('queued waiting');
  });

  test('that is refused again and again lets those behind it have their turns', async () => {
    const world = await openQueue({ channels: [channelSettings({ inFlightMax: 1, requestsPerMinute: 6000 })] });
    const first = await fill(world);
    const { task } = await world.create(anOrder(), { wait: { class: 'batch' } });
    const behind = await world.create(anOrder(), { wait: { class: 'batch' } });
    await end(world, first);
    world.upstream.answer('main', ...Array.from({ length: 4 }, () => refused('channel')));
    await world.clock.advance(MINUTE_MS);
    for (let turns = 0; turns < 4; turns += 1) {
      await world.clock.advance(1000);
      await world.pass();
    }

    expect(await outcomes(world.deps.store, task.id)).toEqual(Array.from({ length: 3 }, () => 'refused'));
    expect(await outcomes(world.deps.store, behind.task.id)).toEqual(['refused']);
    await world.clock.advance(1000);
    await world.pass();
    expect(await outcomes(world.deps.store, behind.task.id)).toEqual(['refused', 'accepted']);
  });

  test('returns to its place although the database is away when its upstream throttles it', async () => {
    const world = await openQueue();
    const first = await fill(world);
    const { task } = await world.create();
    await end(world, first);
    await world.clock.advance(MINUTE_MS);
    world.upstream.answer('main', refused('throttle'));
    let faults = 0;
    world.journal.put(async ({ name }, proceed) => {
      if (name !== 'store.returnToQueue' || faults === 3) return proceed();
      faults += 1;
      throw new StoreUnavailable('the line was cut');
    });
    await world.turns.pass();
    await untilAfter(world.clock, () => world.deps.creating.size === 0);

    expect([faults, await stateOf(world, task.id)]).toEqual([3, 'queued waiting']);
    expect(await outcomes(world.deps.store, task.id)).toEqual(['refused']);
  });

  test('is unknown if the answer is lost at its turn, and is not sent again', async () => {
    const world = await openQueue();
    const first = await fill(world);
    const { task } = await world.create();
    await end(world, first);
    await world.clock.advance(MINUTE_MS);
    world.upstream.answer('main', LOST);
    await world.pass();
    await world.clock.advance(MINUTE_MS);
    await world.pass();

    expect(await stateOf(world, task.id)).toBe('queued unknown');
    expect(world.upstream.submitted).toHaveLength(2);
    expect(world.billing.holds.has(task.id)).toBe(true);
  });

  test.each([
    ['returns to its place if media is away at its turn', serviceUnavailable(new Error('away')), 'queued waiting'],
    ['fails if no channel can get its media', new Error('the bytes are gone'), 'failed invalid_request'],
  ])('%s', async (_what, fault, state) => {
    const world = await openQueue();
    const first = await fill(world);
    const { task } = await world.create(anOrder({ content: [aText(), anImage('first_frame')] }));
    await end(world, first);
    await world.clock.advance(MINUTE_MS);
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'links.mediaUrl') throw fault;
      return proceed();
    });
    await world.pass();

    expect(world.upstream.submitted).toHaveLength(1);
    expect(await stateOf(world, task.id)).toBe(state);
  });
});

describe('turns', () => {
  test('are spread over the minute, and shared by the replicas', async () => {
    for (const [replicas, apartMs] of [
      [1, 1000],
      [3, 3000],
    ] as const) {
      const world = await openQueue(
        { channels: [channelSettings({ requestsPerMinute: 60, inFlightMax: 100 })] },
        replicas,
      );
      for (let times = 0; times < 5; times += 1) world.deps.channels.find('main')?.circuit.failed();
      for (let count = 0; count < 10; count += 1) await world.create();
      await world.clock.advance(MINUTE_MS);
      // a half-open circuit lets one through
      await world.pass();
      await world.pass();

      expect(world.upstream.submitted).toHaveLength(1);
      for (let sent = 2; sent <= 4; sent += 1) {
        await world.clock.advance(apartMs - 1);
        await world.pass();
        expect(world.upstream.submitted).toHaveLength(sent - 1);
        await world.clock.advance(1);
        await world.pass();
        expect(world.upstream.submitted).toHaveLength(sent);
      }
    }
  });

  test('have half of the minute of their channel if creates of another lane that do not wait take all of it', async () => {
    const world = await openQueue({ channels: [channelSettings({ requestsPerMinute: 8, inFlightMax: 100 })] });
    const countAccepted = async (): Promise<number> => {
      const creates = Array.from({ length: 8 }, () => world.create(anOrder(), { wait: { mode: 'none' } }));
      return (await Promise.allSettled(creates)).filter(({ status }) => status === 'fulfilled').length;
    };
    expect(await countAccepted()).toBe(8);
    const { task } = await world.create(aContextIr(), { accountId: 'other' });
    expect(task.admission).toBe('waiting');
    await world.clock.advance(MINUTE_MS / 2);
    await world.pass();
    await world.clock.advance(MINUTE_MS / 2);

    expect(await countAccepted()).toBe(4);
    await world.pass();
    expect(await stateOf(world, task.id)).toBe('queued accepted');
  });

  test('stop at the limit of the channel, and the pass tells when the minute has room again', async () => {
    const world = await openQueue({ channels: [channelSettings({ requestsPerMinute: 2, inFlightMax: 100 })] });
    for (let count = 0; count < 2; count += 1) expect((await world.create()).task.admission).toBe('accepted');
    const { task } = await world.create();

    expect(task.admission).toBe('waiting');
    const rest = await world.pass();
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThanOrEqual(5000);
    await world.clock.advance(MINUTE_MS);
    await world.pass();
    expect(await stateOf(world, task.id)).toBe('queued accepted');
  });

  test('of a lane whose channels are full do not stand before those of another lane', async () => {
    const channels = [
      channelSettings({ inFlightMax: 1 }),
      channelSettings({ id: 'other', endpoints: ['video.context_ir'], inFlightMax: 1 }),
    ];
    const world = await openQueue({ channels });
    await fill(world);
    const { task: stuck } = await world.create();
    await world.clock.advance(MINUTE_MS);
    await world.pass();

    expect(await stateOf(world, stuck.id)).toBe('queued waiting');
    expect(await world.pass()).toBeLessThanOrEqual(5000);
  });

  test('rest until they are woken if nothing waits', async () => {
    const world = await openQueue();
    expect(await world.pass()).toBe(Infinity);
  });

  test('pass over a channel that is paused', async () => {
    const world = await openQueue();
    const first = await fill(world);
    const { task } = await world.create();
    await pauseChannel(world.operate, PAUSE);
    await end(world, first);
    await world.clock.advance(MINUTE_MS);
    await world.pass();
    expect(await stateOf(world, task.id)).toBe('queued waiting');
  });
});
