import { describe, expect, test } from '@jest/globals';
import { isProblem } from '@reelgate/platform/problem';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { LOST } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import type { FindOutcome } from '../../channels/channel.ts';
import type { Task } from '../../domain/task.ts';
import { reconcileUnknown } from './reconcile-unknown.ts';

const open = useWorlds();
/** The searches of a pass are over after fewer seconds. */
const STEPS_MAX = 100;
const MINUTE_MS = 60_000;

/** A task whose answer was lost, and the outcome of a search by its key. */
async function loseOne(world: World, found: FindOutcome): Promise<Task> {
  world.upstream.answer('main', LOST);
  const { task } = await world.create();
  world.upstream.found = new Map([[`${task.id}-1`, found]]);
  return task;
}

/** Creates a task, after the pause of a circuit that lost answers have opened. */
async function createPatiently(world: World): Promise<Task> {
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      return (await world.create()).task;
    } catch (error) {
      if (!isProblem(error, 'no_channel_available')) throw error;
      await world.clock.advance(MINUTE_MS);
    }
  }
  throw new Error('the circuit stays open');
}

const findTask = ({ deps }: World, { id }: Task): Promise<Task | undefined> => deps.store.find(id);

describe('a lost answer, where the upstream can be asked by the key of the attempt', () => {
  test('adopts the work that the upstream has, and polls it at once', async () => {
    const world = await open();
    const task = await loseOne(world, { outcome: 'accepted', upstreamId: 'up-lost' });

    expect(await reconcileUnknown(world.deps)).toBe(1);

    expect(await findTask(world, task)).toMatchObject({
      admission: 'accepted',
      mapping: { channel: 'main', upstreamId: 'up-lost' },
      nextPollAt: world.clock.now(),
    });
    expect(world.upstream.submitted).toHaveLength(1);
  });

  test('fails the task and releases its hold if the attempt never arrived', async () => {
    const world = await open();
    const task = await loseOne(world, { outcome: 'never arrived' });

    expect(await reconcileUnknown(world.deps)).toBe(1);

    expect(await findTask(world, task)).toMatchObject({ state: 'failed', failure: { code: 'never_arrived' } });
    expect(world.upstream.submitted).toHaveLength(1);
    expect(await world.deps.store.listOpenAttention()).toEqual([]);
  });

  test('does not fail a task that has adopted its work in the meantime', async () => {
    const world = await open();
    const task = await loseOne(world, { outcome: 'never arrived' });
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'main.find') await world.deps.store.adopt(task.id, 'up-heard', world.clock.now());
      return proceed();
    });

    await reconcileUnknown(world.deps);

    expect(await findTask(world, task)).toMatchObject({ state: 'queued', mapping: { upstreamId: 'up-heard' } });
  });

  test('waits for a person after a minute if the upstream cannot say', async () => {
    const world = await open();
    const task = await loseOne(world, { outcome: 'cannot know', why: 'it is too early' });
    world.upstream.works = undefined;

    expect(await reconcileUnknown(world.deps)).toBe(0);
    expect(await world.deps.store.listOpenAttention()).toEqual([]);

    await world.clock.advance(MINUTE_MS + 1);
    await reconcileUnknown({ ...world.deps, chance: () => 0 });

    expect(await world.deps.store.listOpenAttention()).toMatchObject([{ taskId: task.id, reason: 'unknown_outcome' }]);
  });

  test('never takes the work of another task', async () => {
    const world = await open();
    const { task: other } = await world.create();
    const task = await loseOne(world, { outcome: 'accepted', upstreamId: other.mapping?.upstreamId ?? '' });

    expect(await reconcileUnknown(world.deps)).toBe(0);

    expect(await findTask(world, task)).toMatchObject({ admission: 'unknown' });
  });

  test('in one of five of a thousand submissions: no task waits for a person, and none is sent twice', async () => {
    const world = await open({
      channels: [channelSettings({ inFlightMax: 2000, requestsPerMinute: 60_000 })],
      limits: { inFlightPerToken: 2000, inFlightTotal: 2000 },
    });
    const found = new Map<string, FindOutcome>();
    const ids: string[] = [];
    for (let made = 0; made < 1000; made += 1) {
      const isLost = made % 5 === 0;
      if (isLost) world.upstream.answer('main', LOST);
      const task = await createPatiently(world);
      ids.push(task.id);
      if (!isLost) continue;
      const outcome: FindOutcome =
        made % 2 === 0 ? { outcome: 'accepted', upstreamId: `lost-${made}` } : { outcome: 'never arrived' };
      found.set(`${task.id}-1`, outcome);
    }
    world.upstream.found = found;

    // each search takes a poll of the channel, or waits for one
    for (let pass = 0; pass < 20; pass += 1) {
      const isOver = reconcileUnknown(world.deps).then(() => true);
      for (let step = 0; step < STEPS_MAX; step += 1)
        if (await Promise.race([isOver, world.clock.advance(MINUTE_MS / 60)])) break;
      await isOver;
    }

    const tasks = await Promise.all(ids.map((id) => world.deps.store.find(id)));
    const lost = [...found.values()];
    expect(lost).toHaveLength(200);
    expect(tasks.filter((task) => task?.failure?.code === 'never_arrived')).toHaveLength(
      lost.filter(({ outcome }) => outcome === 'never arrived').length,
    );
    expect(tasks.filter((task) => task?.admission === 'unknown')).toEqual([]);
    expect(await world.deps.store.listOpenAttention()).toEqual([]);
    expect(world.upstream.submitted).toHaveLength(1000);
  });
});
