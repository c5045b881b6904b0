import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../testing/channel-settings.ts';
import { succeeded } from '../../testing/fake-upstream.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { cancelTask } from '../operations/ends/cancel-task.ts';
import { startPollers } from './pollers.ts';

const open = useWorlds();
const HAND_OVER_MS = 5000;
const IDLE_MS = 200;
const CLAIMS_APART_MS = 50;
const SPARE = channelSettings({ id: 'spare' });

const pollsOf = ({ journal }: World, channel = 'main'): number =>
  journal.names().filter((name) => name === `${channel}.poll`).length;

test('a task is polled when it is due, and no more after its end', async () => {
  const world = await open();
  const { task } = await world.create();
  const pollers = startPollers(world.deps);

  await world.clock.advance(2000);
  expect(pollsOf(world)).toBe(0);

  await world.clock.advance(1000);
  await world.clock.advance(0);
  expect(pollsOf(world)).toBe(1);

  world.upstream.pollResults.set('up-1', succeeded());
  await world.clock.advance(15_000);
  await world.clock.advance(0);
  expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'completed' });
  const { length } = world.journal.names().filter((name) => name === 'main.poll');
  await world.clock.advance(60_000);
  expect(pollsOf(world)).toBe(length);
  await pollers.stop();
});

const countClaims = ({ journal }: World): number => journal.names().filter((name) => name === 'store.claimDue').length;

describe('a poller that rests', () => {
  test('claims no task before one is due, and polls it then', async () => {
    const world = await open();
    const { task } = await world.create();
    const pollers = startPollers(world.deps);

    await world.clock.advance(task.nextPollAt! - world.clock.now() - 1);
    expect(countClaims(world)).toBe(0);
    await world.clock.advance(IDLE_MS);
    await world.clock.advance(0);

    expect(pollsOf(world)).toBe(1);
    await pollers.stop();
  });

  test('polls a task in time that is accepted while it rests', async () => {
    const world = await open();
    const pollers = startPollers(world.deps);
    await world.clock.advance(100);

    const { task } = await world.create();
    await world.clock.advance(task.nextPollAt! - world.clock.now());
    await world.clock.advance(IDLE_MS);
    await world.clock.advance(0);

    expect(pollsOf(world)).toBe(1);
    await pollers.stop();
  });

  test('polls a task at once that an operator retries, or whose cancel was not confirmed', async () => {
    const world = await open();
    const { task } = await world.create();
    const pollers = startPollers(world.deps);
    await world.clock.advance(0);
    const deps = { ...world.deps, wake: { ...world.deps.wake, polls: pollers.wake } };

    await expect(cancelTask(deps, task.accountId, task.id, new AbortController().signal)).rejects.toThrow('confirm');
    await world.clock.advance(0);

    expect(pollsOf(world)).toBe(2);
    await pollers.stop();
  });
});

test('waking a channel polls its due tasks at once', async () => {
  const world = await open();
  const { task } = await world.create();
  const pollers = startPollers(world.deps);
  await world.clock.advance(0);

  await world.deps.store.makeDue(task.id, world.clock.now());
  pollers.wake('main');
  pollers.wake('nobody');
  await world.clock.advance(0);

  expect(pollsOf(world)).toBe(1);
  await pollers.stop();
});

test('tasks that become due right after a claim share the next one', async () => {
  const world = await open();
  const ids = [await world.create(), await world.create(), await world.create()].map(({ task }) => task.id);
  const pollers = startPollers(world.deps);
  await world.clock.advance(0);
  const polledAfter = async (ms: number, due: readonly string[]): Promise<number> => {
    for (const id of due) await world.deps.store.makeDue(id, world.clock.now());
    pollers.wake('main');
    await world.clock.advance(ms);
    await world.clock.advance(0);
    return pollsOf(world);
  };

  expect(await polledAfter(0, ids.slice(0, 1))).toBe(1);
  expect(await polledAfter(0, ids.slice(1))).toBe(1);
  expect(await polledAfter(CLAIMS_APART_MS, [])).toBe(3);
  await pollers.stop();
});

test('a new configuration starts new channels, and keeps polling the tasks of removed ones', async () => {
  const world = await open();
  await world.create();
  const pollers = startPollers(world.deps);

  world.deps.channels.replace([SPARE]);
  pollers.renew();
  const { task } = await world.create();
  await world.clock.advance(0);
  await world.clock.advance(3000);
  await world.clock.advance(0);

  expect(task.mapping?.channel).toBe('spare');
  expect([pollsOf(world), pollsOf(world, 'spare')]).toEqual([1, 1]);
  await pollers.stop();
});

test('stopping waits for the running polls, and starts no more', async () => {
  const world = await open();
  const { task } = await world.create();
  const gate = Promise.withResolvers<undefined>();
  world.journal.put(async ({ name }, proceed) => {
    if (name === 'main.poll') await gate.promise;
    return proceed();
  });
  const pollers = startPollers(world.deps);
  await world.clock.advance(0);
  await world.clock.advance(3000);
  await world.clock.advance(0);
  expect(pollsOf(world)).toBe(1);

  let stopped = false;
  const stopping = pollers.stop().then(() => {
    stopped = true;
  });
  await world.clock.advance(0);
  expect(stopped).toBe(false);

  gate.resolve(undefined);
  await stopping;
  expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'in_progress' });
  await world.clock.advance(60_000);
  expect(pollsOf(world)).toBe(1);
});

test('stopping waits for a limited time, and leaves the fetch of a long result to another process', async () => {
  const world = await open();
  await world.create();
  world.journal.put(async ({ name }, proceed) => (name === 'main.poll' ? new Promise(() => undefined) : proceed()));
  const pollers = startPollers(world.deps);
  await world.clock.advance(0);
  await world.clock.advance(3000);
  let stopped = false;
  const stopping = pollers.stop().then(() => {
    stopped = true;
  });

  await world.clock.advance(0);
  expect(stopped).toBe(false);
  await world.clock.advance(HAND_OVER_MS);
  await stopping;
});
