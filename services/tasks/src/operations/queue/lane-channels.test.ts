import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { fakeUpstream } from '../../../testing/fake-upstream.ts';
import { newJournal } from '../../../testing/journal.ts';
import { anOrder, aText } from '../../../testing/orders.ts';
import { aNewTask } from '../../../testing/tasks.ts';
import { newChannelRegistry } from '../../channels/channel-registry.ts';
import type { ChannelSettings } from '../../channels/channel.ts';
import { readLane } from '../../domain/lane.ts';
import { listLaneChannels, nameCreateLane } from './lane-channels.ts';

const NORTH = channelSettings({ id: 'north-1', upstreamAccount: 'north' });
const NORTH_WITHOUT_PLACE = channelSettings({ id: 'north-2', upstreamAccount: 'north' });
const SOUTH = channelSettings({ id: 'south-1', upstreamAccount: 'south' });
const UPSTREAM_FILE = anOrder({ content: [aText(), { media: 'image', role: 'first_frame', url: 'asset://a-1' }] });

/** The lane of a create that may be submitted to some of the channels. */
function nameLane(order: typeof UPSTREAM_FILE, settings: readonly ChannelSettings[], usable: readonly string[]) {
  const channels = newChannelRegistry(settings, {
    ...{ clock: fakeClock(0), adapters: { scripted: fakeUpstream().channels(newJournal()) }, chance: () => 0 },
  });
  const runtimes = channels.all().filter(({ channel }) => usable.includes(channel.settings.id));
  const name = nameCreateLane(
    { channels },
    { task: aNewTask('task_1', { order }), source: undefined, runtimes },
    'standard',
  );
  return { channels, name };
}

test('the lane of an order that any account can do names the channels that cannot', () => {
  const { name } = nameLane(anOrder(), [NORTH, NORTH_WITHOUT_PLACE, SOUTH], ['north-1', 'south-1']);

  expect(readLane(name)).toMatchObject({ accounts: undefined, without: ['north-2'] });
});

test('the lane of an order with an upstream file names its account, and of that the channels that cannot', () => {
  const { name } = nameLane(UPSTREAM_FILE, [NORTH, NORTH_WITHOUT_PLACE, SOUTH], ['north-1']);

  expect(readLane(name)).toMatchObject({ accounts: ['north'], without: ['north-2'] });
});

test('a channel that is added later serves a lane, unless its account cannot do the orders of the lane', () => {
  const { channels, name } = nameLane(UPSTREAM_FILE, [NORTH, NORTH_WITHOUT_PLACE], ['north-1']);

  channels.replace([NORTH, NORTH_WITHOUT_PLACE, SOUTH, channelSettings({ id: 'north-3', upstreamAccount: 'north' })]);

  expect(listLaneChannels({ channels }, name).map(({ channel }) => channel.settings.id)).toEqual([
    'north-1',
    'north-3',
  ]);
});
