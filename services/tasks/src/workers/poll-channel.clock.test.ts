import { describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { channelSettings } from '../../testing/channel-settings.ts';
import { succeeded } from '../../testing/fake-upstream.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World, WorldOptions } from '../../testing/open-world.ts';
import { accepted, numbered } from '../../testing/store/opened-store.ts';
import { channelPoller } from './poll-channel.ts';
import type { ChannelPoller } from './poll-channel.ts';

const open = useWorlds();
const HOUR_MS = 3600 * 1000;

const pollerOf = ({ deps }: World): ChannelPoller => channelPoller(deps, () => deps.channels.find('main'));

/** A world with `count` due tasks on its channel. */
async function withDue(count: number, options: WorldOptions = {}) {
  const world = await open(options);
  const ids = numbered(count);
  for (const id of ids)
    await accepted(world.deps.store, id, { createdAt: world.clock.now(), caps: [], nextPollAt: world.clock.now() });
  return { world, ids, poller: pollerOf(world) };
}

async function passAndWait({ poller }: { readonly world: World; readonly poller: ChannelPoller }): Promise<number> {
  const taken = Number(await poller.pass('main'));
  await poller.idle();
  return taken;
}

test('a task that becomes due again before its poll is written is polled next, not after its lease', async () => {
  const { world, poller } = await withDue(1);
  const polls = (): number => world.journal.names().filter((name) => name === 'main.poll').length;
  const heard = Promise.withResolvers<undefined>();
  world.journal.put(async ({ name }, proceed) => {
    const written = await proceed();
    if (name === 'store.progress') await heard.promise;
    return written;
  });
  await poller.pass('main');
  await until(() => world.journal.names().includes('store.progress'));
  await world.clock.advance(20_000);

  expect(await poller.pass('main')).toBe(1);
  expect(polls()).toBe(1);
  heard.resolve(undefined);
  await poller.idle();
  expect(await passAndWait({ world, poller })).toBe(1);

  expect(polls()).toBe(2);
});

describe('a jump of the clock', () => {
  test('back by hours delays no poll by hours', async () => {
    const {
      world,
      ids: [id = ''],
      poller,
    } = await withDue(1);
    await passAndWait({ world, poller });
    await world.clock.advance(-5 * HOUR_MS);

    expect(await passAndWait({ world, poller })).toBe(1);

    world.upstream.pollResults.set(`up-${id}`, succeeded());
    await world.clock.advance(15_000);
    await passAndWait({ world, poller });
    expect(await world.deps.store.find(id)).toMatchObject({ state: 'completed' });
  });

  test('back while no process runs delays no poll either', async () => {
    const { world, poller } = await withDue(2);
    await passAndWait({ world, poller });
    await world.clock.advance(-5 * HOUR_MS);

    expect(await passAndWait({ world, poller: pollerOf(world) })).toBe(2);
  });

  test('forward by hours starts no second poll of a task', async () => {
    const { world, ids, poller } = await withDue(3);
    const gate = Promise.withResolvers<undefined>();
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'main.poll') await gate.promise;
      return proceed();
    });
    await poller.pass('main');
    await world.clock.advance(5 * HOUR_MS);

    await poller.pass('main');
    gate.resolve(undefined);
    await poller.idle();

    expect(world.journal.names().filter((name) => name === 'main.poll')).toHaveLength(ids.length);
  });

  test.each([5 * HOUR_MS, -5 * HOUR_MS])('by %d ms starts no more polls than the channel allows', async (jump) => {
    const { world, poller } = await withDue(40, { channels: [channelSettings({ pollsPerMinute: 10 * 60 })] });
    for (let pass = 0; pass < 4; pass += 1) {
      await passAndWait({ world, poller });
      await world.clock.advance(1000);
    }
    world.journal.clear();

    await world.clock.advance(jump);
    for (let pass = 0; pass < 5; pass += 1) await passAndWait({ world, poller });

    expect(world.journal.names().filter((name) => name === 'main.poll').length).toBeLessThanOrEqual(10);
  });

  test.each([5 * HOUR_MS, -5 * HOUR_MS])(
    'by %d ms ends no task, releases no money and announces nothing',
    async (jump) => {
      const { world, ids, poller } = await withDue(3);
      await passAndWait({ world, poller });
      await world.clock.advance(jump);
      await passAndWait({ world, poller });

      for (const id of ids)
        expect(await world.deps.store.find(id)).toMatchObject({ state: 'in_progress', admission: 'accepted' });
      expect(world.journal.names().filter((name) => name === 'store.finish' || name.startsWith('billing.'))).toEqual(
        [],
      );
      expect(await world.deps.store.listOpenAttention()).toEqual([]);
    },
  );
});
