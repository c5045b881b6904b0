import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../testing/channel-settings.ts';
import { refused } from '../../testing/fake-upstream.ts';
import { anOrder } from '../../testing/orders.ts';
import { useQueueWorlds } from '../../testing/queue-world.ts';
import { outcomes } from '../../testing/store/opened-store.ts';

const openQueue = useQueueWorlds();

describe('a task whose upstream limits its callers', () => {
  test('waits as long as its upstream asks, and keeps its place twice', async () => {
    const world = await openQueue({ channels: [channelSettings({ inFlightMax: 9, requestsPerMinute: 6000 })] });
    const waits = [90_000, 700];
    world.upstream.answer('main', ...waits.map((ms) => refused('throttle', ms)));
    const { task } = await world.create();
    for (const [index, ms] of waits.entries()) {
      await world.pass();
      await world.clock.advance(ms - 1);
      await world.pass();
      expect(world.upstream.submitted).toHaveLength(index + 1);
      await world.clock.advance(1);
      await world.pass();
      expect(world.upstream.submitted).toHaveLength(index + 2);
    }

    expect(await outcomes(world.deps.store, task.id)).toEqual([...waits.map(() => 'refused'), 'accepted']);
  });

  test('waits by itself from its third throttle on, so that an order that is always throttled stops no other', async () => {
    const world = await openQueue({ channels: [channelSettings({ inFlightMax: 9, requestsPerMinute: 6000 })] });
    world.upstream.answer('main', ...Array.from({ length: 3 }, () => refused('throttle', 1000)));
    const { task } = await world.create();
    const behind = await world.create();
    for (let seconds = 0; seconds < 3; seconds += 1) {
      await world.clock.advance(1000);
      await world.pass();
    }

    expect(await outcomes(world.deps.store, behind.task.id)).toEqual(['accepted']);
    expect(await outcomes(world.deps.store, task.id)).toEqual(['refused', 'refused', 'refused']);
    await world.clock.advance(4000);
    await world.pass();
    expect(await outcomes(world.deps.store, task.id)).toEqual(['refused', 'refused', 'refused', 'accepted']);
  });

  test('keeps its distance also while its return to the queue is being written', async () => {
    const world = await openQueue({ channels: [channelSettings({ inFlightMax: 9, requestsPerMinute: 6000 })] });
    world.upstream.answer('main', refused('throttle', 1000), refused('throttle', 4000));
    await world.create();
    world.journal.put(async ({ name }, proceed) => {
      const result = await proceed();
      if (name === 'store.returnToQueue') await world.turns.pass();
      return result;
    });
    await world.clock.advance(1000);
    await world.pass();

    expect(world.upstream.submitted).toHaveLength(2);
  });

  test('whose upstream does not say for how long leaves the channel alone for a quarter of a second', async () => {
    const world = await openQueue({ channels: [channelSettings({ inFlightMax: 9, requestsPerMinute: 6000 })] });
    world.upstream.answer('main', refused('throttle'));
    await world.create();
    await world.clock.advance(249);
    await world.pass();
    expect(world.upstream.submitted).toHaveLength(1);
    await world.clock.advance(1);
    await world.pass();
    expect(world.upstream.submitted).toHaveLength(2);
  });

  test('of others does not go to a channel that has been asked to wait, and is refused if it does not wait', async () => {
    const world = await openQueue({ channels: [channelSettings({ inFlightMax: 9, requestsPerMinute: 6000 })] });
    world.upstream.answer('main', refused('throttle', 4000));
    await world.create();
    expect((await world.create()).task.admission).toBe('waiting');
    const unwilling = world.create(anOrder(), { wait: { mode: 'none' } });
    await expect(unwilling).rejects.toMatchObject({ reason: 'rate_limit_exceeded' });

    expect(world.upstream.submitted).toHaveLength(1);
  });

  test('goes to another channel meanwhile', async () => {
    const channels = [channelSettings({ priority: 1 }), channelSettings({ id: 'spare' })];
    const world = await openQueue({ channels });
    world.upstream.answer('main', refused('throttle', 4000));

    await world.create();
    await world.create();

    expect(world.upstream.submitted.map(({ channel }) => channel)).toEqual(['main', 'spare', 'spare']);
  });
});
