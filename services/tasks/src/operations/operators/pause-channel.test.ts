import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { refused } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { aText, anImage, anOrder } from '../../../testing/orders.ts';
import { channelPoller } from '../../workers/poll-channel.ts';
import { checkCreate } from '../creates/check-create.ts';
import { listPauses, pauseChannel, renewPauses, resumeChannel } from './pause-channel.ts';

const open = useWorlds();
const CHANNELS = [channelSettings({ id: 'first', priority: 1 }), channelSettings({ id: 'second' })];
const NONE = { kind: 'unavailable', reason: 'no_channel_available' };

const openTwo = (): Promise<World> => open({ channels: CHANNELS });
const asked = ({ upstream }: World): string[] => upstream.submitted.map(({ channel }) => channel);
const pause = ({ operate }: World, channel: string, actor = 'ann') =>
  pauseChannel(operate, { channel, actor, reason: 'it loses results' });
const resume = ({ operate }: World, channel: string) => resumeChannel(operate, { channel, actor: 'bob', reason: '' });
const acts = async ({ operate }: World): Promise<string[]> =>
  (await operate.operators.acts({}, { limit: 10 })).map(
    ({ action, subject, actor }) => `${actor} ${action} ${subject}`,
  );

describe('a paused channel', () => {
  test('gets no order: the next channel does, until it is resumed', async () => {
    const world = await openTwo();

    await pause(world, 'first');
    await world.create();
    await resume(world, 'first');
    await world.create();

    expect(asked(world)).toEqual(['second', 'first']);
  });

  test('is known in the process that answers as soon as the operator has the answer', async () => {
    const world = await openTwo();

    await pause(world, 'first');
    const isPaused = world.operate.paused.has('first');
    await resume(world, 'first');

    expect([isPaused, world.operate.paused.has('first')]).toEqual([true, false]);
  });

  test('is no channel to fail over to', async () => {
    const world = await openTwo();
    world.upstream.answer('first', refused('channel'));
    await pause(world, 'second');

    await expect(world.create()).rejects.toMatchObject(NONE);

    expect(asked(world)).toEqual(['first']);
  });

  test.each([
    ['channel', NONE],
    ['throttle', { kind: 'exhausted', reason: 'rate_limit_exceeded' }],
    ['unfit', NONE],
  ] as const)('beside one that refuses an order as %s makes it %j', async (fault, refusal) => {
    const world = await openTwo();
    world.upstream.answer('second', refused(fault));
    await pause(world, 'first');

    await expect(world.create()).rejects.toMatchObject(refusal);
  });

  test('that is the only one refuses creates and checks without its name, and holds no money', async () => {
    const world = await open();
    await pause(world, 'main');

    const refusals = await Promise.all([
      world.create().catch(String),
      world.create(anOrder({ content: [aText(), anImage()] })).catch(String),
      checkCreate(world.deps, {
        accountId: 'acme',
        tokenId: 't',
        wait: {},
        tokenWait: { for: 'channels', class: 'standard' },
        makers: [],
        visibleModels: ['*'],
        order: anOrder(),
        beside: {},
      }).catch(String),
    ]);

    for (const refusal of refusals) {
      expect(refusal).toMatch(/no generator is available.*retry later/);
      expect(refusal).not.toMatch(/main/);
    }
    expect(asked(world)).toEqual([]);
    expect([...world.billing.holds.values()].filter(({ state }) => state === 'held')).toEqual([]);
  });

  test('is still polled for its unfinished tasks', async () => {
    const world = await open();
    const { task } = await world.create();
    world.upstream.pollResults.set('up-1', { found: true, report: { phase: 'running', status: 'running' } });
    await pause(world, 'main');

    await world.clock.advance(60_000);
    const poller = channelPoller(world.deps, () => world.deps.channels.find('main'));
    await poller.pass('main');
    await poller.idle();

    expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'in_progress' });
  });

  test('stays paused in the next process', async () => {
    const world = await openTwo();
    await pause(world, 'first');

    const next = await world.restart();
    await next.create();

    expect(asked(next)).toEqual(['second']);
  });

  test('keeps its first pause, and a second one is no act', async () => {
    const world = await openTwo();
    const first = await pause(world, 'first');
    await world.clock.advance(1000);

    expect(await pause(world, 'first', 'bob')).toEqual(first);

    expect(await acts(world)).toEqual(['ann channel_paused first']);
  });
});

describe('a pause with an end', () => {
  const HALF_HOUR_MS = 1_800_000;
  const pauseFor = ({ operate }: World, durationMs: number) =>
    pauseChannel(operate, { channel: 'first', actor: 'ann', reason: 'it loses results', durationMs });

  test('lets the channel come back by itself, with an act that says whose pause it was', async () => {
    const world = await openTwo();
    await pauseFor(world, HALF_HOUR_MS);

    await world.clock.advance(HALF_HOUR_MS - 1);
    await renewPauses(world.operate);
    await world.create();
    await world.clock.advance(1);
    await renewPauses(world.operate);
    await world.create();

    expect(asked(world)).toEqual(['second', 'first']);
    expect(await acts(world)).toEqual(['ann channel_returned first', 'ann channel_paused first']);
  });

  test('is over at its end in a process that has read no pauses since', async () => {
    const world = await openTwo();
    await pauseFor(world, HALF_HOUR_MS);

    await world.clock.advance(HALF_HOUR_MS);
    await world.create();

    expect(asked(world)).toEqual(['first']);
    expect(await listPauses(world.operate)).toEqual([]);
  });

  test('ends in the next process if its own has died', async () => {
    const world = await openTwo();
    await pauseFor(world, HALF_HOUR_MS);
    const next = await world.restart();

    await next.create();
    await next.clock.advance(HALF_HOUR_MS);
    await renewPauses(next.operate);
    await next.create();

    expect(asked(next)).toEqual(['second', 'first']);
    expect(await acts(next)).toEqual(['ann channel_returned first', 'ann channel_paused first']);
  });

  test('can be ended before by a person', async () => {
    const world = await openTwo();
    await pauseFor(world, HALF_HOUR_MS);

    expect(await resume(world, 'first')).toBe(true);
    await world.clock.advance(HALF_HOUR_MS);
    await renewPauses(world.operate);

    expect(await acts(world)).toEqual(['bob channel_resumed first', 'ann channel_paused first']);
  });
});

describe('a resumption', () => {
  test('is one act, and none if the channel was not paused', async () => {
    const world = await openTwo();
    await pause(world, 'first');

    expect([await resume(world, 'first'), await resume(world, 'first')]).toEqual([true, false]);

    expect(await acts(world)).toEqual(['bob channel_resumed first', 'ann channel_paused first']);
  });

  test('works for a channel that has left the configuration', async () => {
    const world = await openTwo();
    await pause(world, 'first');
    const operate = { ...world.operate, channelIds: () => ['second'] };

    expect(await pauseChannel(operate, { channel: 'first', actor: 'bob', reason: 'again' })).toMatchObject({
      actor: 'ann',
    });
    expect(await resumeChannel(operate, { channel: 'first', actor: 'bob', reason: '' })).toBe(true);
  });
});

test('any channel of the configuration can be paused, and no other', async () => {
  const world = await openTwo();

  expect(await pause(world, 'relay')).toMatchObject({ channel: 'relay', actor: 'ann' });

  await expect(pause(world, 'none')).rejects.toMatchObject({ kind: 'not_found', reason: 'channel_not_found' });
  await expect(resume(world, 'none')).rejects.toMatchObject({ reason: 'channel_not_found' });
  expect(await acts(world)).toEqual(['ann channel_paused relay']);
});
