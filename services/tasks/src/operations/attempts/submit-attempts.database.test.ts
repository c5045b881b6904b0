import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { LOST, accepted, refused } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { outcomes } from '../../../testing/store/opened-store.ts';
import type { ChannelSettings, Submission } from '../../channels/channel.ts';
import { UncertainOutcome } from './record-outcome.ts';

const open = useWorlds();
const ADVANCES_MAX = 10_000;

/** Two channels of one upstream account, in the order of their names. */
const pair = (): ChannelSettings[] => [
  channelSettings({ id: 'first', priority: 1 }),
  channelSettings({ id: 'second' }),
];
const asked = ({ upstream }: World): string[] => upstream.submitted.map(({ channel }) => channel);
const holds = ({ billing }: World): string[] => [...billing.holds.values()].map(({ state }) => state);

/** Advances the time until the work ends. */
async function passTime({ clock }: World, work: Promise<unknown>, stepMs = 500): Promise<void> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  work.then(end, end);
  for (let turn = 0; turn < ADVANCES_MAX && !over; turn += 1) await clock.advance(stepMs);
}

describe('a database that fails after the upstream has answered', () => {
  const away = new Error('the database is away');

  test.each<[string, string, Submission]>([
    ['accepted the order', 'store.accept', accepted('up-9')],
    ['lost its answer', 'store.leaveUnknown', LOST],
  ])('is retried until it has stored that the upstream %s', async (_what, call, submission) => {
    const world = await open();
    world.upstream.answer('main', submission);
    world.journal.fail(call, away, 20);

    const creating = world.create();
    await passTime(world, creating);

    expect((await creating).task.admission).toBe(submission.outcome);
    expect(world.journal.names().filter((name) => name === call)).toHaveLength(21);
    expect(world.upstream.submitted).toHaveLength(1);
  });

  test.each<[string, string, Submission]>([
    ['accepted the order', 'store.accept', accepted('up-9')],
    ['lost its answer', 'store.leaveUnknown', LOST],
  ])('permanently leaves a create whose upstream %s neither refused nor released', async (_what, call, submission) => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', submission);
    world.journal.fail(call, away, Number.MAX_SAFE_INTEGER);

    const creating = world.create();
    await passTime(world, creating);

    await expect(creating).rejects.toBeInstanceOf(UncertainOutcome);
    expect(asked(world)).toEqual(['first']);
    expect(holds(world)).toEqual(['held']);
    expect(world.journal.names()).not.toContain('store.refuse');
    expect(await world.deps.store.list({ hidden: true }, { limit: 10 })).toMatchObject([{ admission: 'submitting' }]);
    expect(await world.deps.store.inFlight('total')).toBe(1);
  });

  test('counts one fault of the channel for any number of writes of the outcome', async () => {
    const world = await open();
    world.upstream.answer('main', LOST);
    world.journal.fail('store.leaveUnknown', away, 20);

    const creating = world.create();
    await passTime(world, creating);
    await creating;

    expect(world.deps.channels.find('main')?.circuit.state()).toBe('closed');
  });

  test('is retried for a refusal too, before the next channel is tried', async () => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', refused('channel'));
    world.journal.fail('store.refuseAttempt', away, 3);

    const creating = world.create();
    await passTime(world, creating);

    expect(await outcomes(world.deps.store, (await creating).task.id)).toEqual(['refused', 'accepted']);
  });
});
