import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { LOST, aWork, refused, succeeded } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import type { ChannelSettings, ListedWork, PollResult, UpstreamCallback } from '../../channels/channel.ts';
import type { Task } from '../../domain/task.ts';
import { channelPoller } from '../../workers/poll-channel.ts';
import { callbackHandler } from './handle-callback.ts';
import { raiseAttention } from '../ends/raise-attention.ts';

const open = useWorlds();
const CHANNELS = [channelSettings({ callbacks: true })];
const MINUTE_MS = 60_000;
const NOT_KNOWN: PollResult = { found: false, gone: true, error: 'invalid task_id (2013)' };

const tokenOf = ({ deps }: World, { id }: Task, number = 1): string =>
  deps.callbacks.buildUrl({ taskId: id, number }).split('/').at(-1)!;
const wakes = ({ counted }: World): number => counted.filter((word) => word === 'wake polls main').length;
const polls = ({ journal }: World): number => journal.names().filter((name) => name === 'main.poll').length;

/** A callback that names the work, without a signature. */
const naming = (hint: string): UpstreamCallback => ({ headers: {}, body: Buffer.from(hint) });

async function withTask(lost = false) {
  const world = await open({ channels: CHANNELS });
  if (lost) {
    world.upstream.answer('main', LOST);
    world.upstream.works = [aWork({ upstreamId: 'up-found', createdAt: world.clock.now() })];
  }
  const { task } = await world.create();
  return {
    world,
    task,
    handle: callbackHandler(world.deps),
    woken: wakes(world),
    find: () => world.deps.store.find(task.id),
  };
}

test('an attempt contains its own callback address', async () => {
  const { world, task } = await withTask();

  expect(world.upstream.submitted.map(({ attempt }) => attempt.callbackUrl)).toEqual([
    world.deps.callbacks.buildUrl({ taskId: task.id, number: 1 }),
  ]);
});

test('a callback with a wrong signature is refused like one at a wrong address, counted, and changes nothing', async () => {
  const { world, task, handle, woken } = await withTask();
  const forged = { headers: { 'x-signature': 'wrong' }, body: Buffer.from('up-1') };

  await expect(handle(tokenOf(world, task), forged)).rejects.toMatchObject({ kind: 'not_found', reason: 'not_found' });

  expect(world.counted).toContain('callback main wrong');
  expect(wakes(world)).toBe(woken);
});

test('a callback that cannot be checked is refused for a minute, counted and logged, and changes nothing', async () => {
  const { world, task, handle, woken } = await withTask();
  const unchecked = { headers: { 'x-signature': 'unchecked' }, body: Buffer.from('up-1') };

  await expect(handle(tokenOf(world, task), unchecked)).rejects.toMatchObject({
    kind: 'unavailable',
    retryAfterMs: MINUTE_MS,
  });

  expect(world.counted).toContain('callback main unchecked');
  expect(wakes(world)).toBe(woken);
});

describe('a callback for an unfinished task', () => {
  test('makes the task due once, for any number of callbacks, and does not call the upstream', async () => {
    const { world, task, handle, woken, find } = await withTask();
    await world.clock.advance(100);

    await Promise.all(Array.from({ length: 50 }, () => handle(tokenOf(world, task), naming('up-made-up'))));

    expect((await find())?.nextPollAt).toBeLessThanOrEqual(world.clock.now());
    expect(await find()).toMatchObject({ state: 'queued', mapping: { upstreamId: 'up-1' } });
    expect([wakes(world) - woken, polls(world)]).toEqual([1, 0]);
  });

  test('during a poll makes another poll follow', async () => {
    const { world, task, handle, find } = await withTask();
    const poller = channelPoller(world.deps, () => world.deps.channels.find('main'));
    const gate = Promise.withResolvers<undefined>();
    const reached = Promise.withResolvers<undefined>();
    world.journal.put(async ({ name }, proceed) => {
      if (name !== 'main.poll' || polls(world) > 1) return proceed();
      const seen = await proceed();
      reached.resolve(undefined);
      await gate.promise;
      return seen;
    });
    await handle(tokenOf(world, task), naming(''));
    await poller.pass('main');
    await reached.promise;
    world.upstream.pollResults.set('up-1', succeeded());
    await world.clock.advance(5);

    await handle(tokenOf(world, task), naming(''));
    await handle(tokenOf(world, task), naming(''));
    gate.resolve(undefined);
    await poller.idle();

    expect(await find()).toMatchObject({ state: 'in_progress' });
    expect(await poller.pass('main')).toBe(1);
    await poller.idle();
    expect(await find()).toMatchObject({ state: 'completed' });
    expect(polls(world)).toBe(2);
  });
});

test('a callback for an ended task changes nothing', async () => {
  const { world, task, handle, woken, find } = await withTask();
  await world.deps.store.finish(task.id, { state: 'completed', at: world.clock.now() });
  const ended = await find();

  await handle(tokenOf(world, task), naming('up-1'));

  expect(await find()).toEqual(ended);
  expect([wakes(world) - woken, polls(world)]).toEqual([0, 0]);
});

test('a callback for a removed task changes nothing', async () => {
  const { world, task, handle } = await withTask();

  await expect(handle(tokenOf(world, { ...task, id: 'task_gone' }), naming(''))).resolves.toBeUndefined();
});

test.each(['', 'task_1', 'task_1.1.c2lnbmF0dXJl'])('a callback at %j is refused before any read', async (token) => {
  const { world, handle } = await withTask();
  const before = world.journal.names().length;

  await expect(handle(token, naming(''))).rejects.toMatchObject({ kind: 'not_found', reason: 'not_found' });
  expect(world.journal.names()).toHaveLength(before);
});

describe('a callback for a task with a lost answer', () => {
  test('assigns the named work when the upstream knows it, and resolves the decision', async () => {
    const { world, task, handle, find } = await withTask(true);
    await raiseAttention(world.deps, task, 'unknown_outcome', 'lost');

    await handle(tokenOf(world, task), naming('up-found'));

    expect(await find()).toMatchObject({
      admission: 'accepted',
      nextPollAt: world.clock.now(),
      mapping: { channel: 'main', upstreamId: 'up-found' },
    });
    expect(await world.deps.store.listOpenAttention()).toEqual([]);
    expect([wakes(world), world.upstream.submitted.length]).toEqual([1, 1]);
  });

  test('that arrives many times at once polls the upstream once', async () => {
    const { world, task, handle } = await withTask(true);

    await Promise.all(Array.from({ length: 50 }, () => handle(tokenOf(world, task), naming('up-found'))));

    expect(polls(world)).toBe(1);
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['an id that is too long', 'x'.repeat(129)],
    ['work that the upstream does not know', 'up-nowhere'],
  ])('that names %s assigns nothing', async (_what, hint) => {
    const { world, task, handle, find } = await withTask(true);
    world.upstream.pollResults.set('up-nowhere', NOT_KNOWN);

    await handle(tokenOf(world, task), naming(hint));

    expect(await find()).toMatchObject({ admission: 'unknown', mapping: { channel: 'main' } });
    expect((await find())?.mapping?.upstreamId).toBeUndefined();
  });

  test('that names the work of another task assigns nothing and takes nothing', async () => {
    const { world, task, handle, find } = await withTask(true);
    const { task: other } = await world.create();

    await handle(tokenOf(world, task), naming(other.mapping!.upstreamId!));

    expect(await find()).toMatchObject({ admission: 'unknown' });
    expect(await world.deps.store.find(other.id)).toEqual(other);
    expect(polls(world)).toBe(0);
  });

  test.each<[string, number, Partial<ListedWork>]>([
    ['which the upstream lists as another order', 0, { duration: 6 }],
    ['of another order from before the create', -MINUTE_MS, { duration: 6 }],
    ['of an equal order from before the create', -MINUTE_MS, {}],
  ])('that names work %s assigns nothing', async (_what, ms, changes) => {
    const { world, task, handle, find } = await withTask(true);
    world.upstream.works = [aWork({ ...changes, upstreamId: 'up-found', createdAt: world.clock.now() + ms })];

    await handle(tokenOf(world, task), naming('up-found'));

    expect(await find()).toMatchObject({ admission: 'unknown' });
    expect((await find())?.mapping?.upstreamId).toBeUndefined();
  });

  test('assigns nothing while the list of the upstream cannot be read, and the named work once it can', async () => {
    const { world, task, handle, find } = await withTask(true);
    const { works } = world.upstream;
    world.upstream.works = undefined;

    await handle(tokenOf(world, task), naming('up-found'));

    expect(await find()).toMatchObject({ admission: 'unknown' });
    world.upstream.works = works;
    await handle(tokenOf(world, task), naming('up-found'));
    expect(await find()).toMatchObject({ admission: 'accepted', mapping: { upstreamId: 'up-found' } });
  });

  test.each<[string, Partial<ChannelSettings>, boolean]>([
    ['of an upstream without a list', {}, false],
    ['whose list is not to be read', { reconcile: 'none' }, true],
  ])('on a channel %s assigns the named work', async (_which, changes, canList) => {
    const world = await open({ channels: [channelSettings({ callbacks: true, ...changes })] });
    world.upstream.canList = canList;
    world.upstream.answer('main', LOST);
    const { task } = await world.create();

    await callbackHandler(world.deps)(tokenOf(world, task), naming('up-found'));

    expect(await world.deps.store.find(task.id)).toMatchObject({
      admission: 'accepted',
      mapping: { upstreamId: 'up-found' },
    });
    expect(world.journal.names()).not.toContain('main.list');
  });

  test('whose clock was set forward before its create assigns the named work of that hour', async () => {
    const world = await open({ channels: CHANNELS });
    const createdAt = world.clock.now();
    await world.clock.advance(10 * MINUTE_MS);
    world.upstream.answer('main', LOST);
    const { task } = await world.create();
    await world.clock.advance(-10 * MINUTE_MS);
    world.upstream.works = [aWork({ upstreamId: 'up-found', createdAt })];

    await callbackHandler(world.deps)(tokenOf(world, task), naming('up-found'));

    expect(await world.deps.store.find(task.id)).toMatchObject({
      admission: 'accepted',
      mapping: { upstreamId: 'up-found' },
    });
  });

  test('on a channel that changed its account assigns nothing, and does not call the upstream', async () => {
    const { world, task, handle, find } = await withTask(true);
    world.deps.channels.replace([channelSettings({ callbacks: true, upstreamAccount: 'rival' })]);

    await handle(tokenOf(world, task), naming('up-found'));

    expect(await find()).toMatchObject({ admission: 'unknown' });
    expect(polls(world)).toBe(0);
  });

  test('at the address of a refused attempt assigns nothing', async () => {
    const world = await open({
      channels: [channelSettings({ callbacks: true, priority: 1 }), channelSettings({ id: 'spare', callbacks: true })],
    });
    world.upstream.answer('main', refused('channel'));
    world.upstream.answer('spare', LOST);
    world.upstream.works = [aWork({ upstreamId: 'up-found', createdAt: world.clock.now() })];
    const { task } = await world.create();

    await callbackHandler(world.deps)(tokenOf(world, task, 1), naming('up-found'));

    expect(await world.deps.store.find(task.id)).toMatchObject({ admission: 'unknown' });
    await callbackHandler(world.deps)(tokenOf(world, task, 2), naming('up-found'));
    expect(await world.deps.store.find(task.id)).toMatchObject({
      admission: 'accepted',
      mapping: { channel: 'spare', upstreamId: 'up-found' },
    });
  });
});
