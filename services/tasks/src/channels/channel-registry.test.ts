import { describe, expect, test } from '@jest/globals';
import type { Adapter } from '@reelgate/adapter-kit';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { channelSettings } from '../../testing/channel-settings.ts';
import type { Channel, ChannelSettings } from './channel.ts';
import { newChannelRegistry } from './channel-registry.ts';
import type { ChannelRegistry } from './channel-registry.ts';

/** An adapter of an operator, of which the registry reads nothing. */
const BOREALIS: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization' },
  openCalls: () => {
    throw new Error('not opened');
  },
};

function newIdleRegistry(settings: readonly ChannelSettings[], chance = seededChance(1)) {
  const closed: ChannelSettings[] = [];
  const idle = (one: ChannelSettings): Channel => ({
    settings: one,
    findExtraFaults: () => [],
    listChoices: () => [],
    submit: async () => ({ outcome: 'unknown', error: 'not asked' }),
    poll: async () => ({ found: false, gone: false, error: 'not asked' }),
    pollManyMax: 1,
    pollMany: async () => new Map(),
    canFind: false,
    findSettlesAfterMs: Infinity,
    readCallback: async () => ({ signature: 'unsigned', upstreamId: undefined }),
    find: async () => ({ outcome: 'cannot know', why: 'not asked' }),
    canList: false,
    list: async () => undefined,
    cancel: async () => false,
    test: async () => ({ ok: true, detail: '' }),
    probe: async () => 'unclear',
    close: async () => void closed.push(one),
  });
  return {
    channels: newChannelRegistry(settings, {
      clock: fakeClock(),
      adapters: { scripted: idle },
      openAdapter: () => idle,
      chance,
    }),
    closed,
  };
}

const idsOf = (channels: ChannelRegistry, model = 'Alpha-H3'): string[] =>
  channels.listServing('generation', model).map(({ channel }) => channel.settings.id);

describe('the channels that serve an order', () => {
  test('are ordered by priority first, whatever their weights', () => {
    const { channels } = newIdleRegistry([
      channelSettings({ id: 'low', priority: -1, weight: 1000 }),
      channelSettings({ id: 'high', priority: 2, weight: 0.001 }),
      channelSettings({ id: 'middle', priority: 0 }),
    ]);

    for (let time = 0; time < 50; time += 1) expect(idsOf(channels)).toEqual(['high', 'middle', 'low']);
  });

  test('are ordered by weight among equal priorities, and each is listed once', () => {
    const { channels } = newIdleRegistry([
      channelSettings({ id: 'three', weight: 3 }),
      channelSettings({ id: 'one', weight: 1 }),
    ]);
    const orders = Array.from({ length: 4000 }, () => idsOf(channels));

    expect(orders.filter(([first]) => first === 'three').length / orders.length).toBeCloseTo(0.75, 1);
    for (const order of orders) expect(order.toSorted()).toEqual(['one', 'three']);
  });

  test('exclude a channel that is disabled, serves another kind or lacks the model', () => {
    const { channels } = newIdleRegistry([
      channelSettings({ id: 'off', enabled: false }),
      channelSettings({ id: 'other kind', endpoints: ['video.context_ir'] }),
      channelSettings({ id: 'other model', models: { 'Other-V1': 'other' } }),
      channelSettings({ id: 'right' }),
    ]);

    expect(idsOf(channels)).toEqual(['right']);
    expect(channels.all()).toHaveLength(4);
  });

  test.each(['toString', '__proto__', 'constructor'])('are empty for a model with the name %s', (model) => {
    expect(idsOf(newIdleRegistry([channelSettings()]).channels, model)).toEqual([]);
  });
});

describe('a new configuration', () => {
  test('keeps the state of a channel that it does not change', () => {
    const { channels } = newIdleRegistry([channelSettings()]);
    const before = channels.find('main');

    channels.replace([channelSettings({ apiKey: new Secret('upstream-key') })]);

    expect(channels.find('main')).toBe(before);
  });

  test.each<[string, Partial<ChannelSettings>]>([
    ['another key', { apiKey: new Secret('another') }],
    ['another secret of its callbacks', { callbackSecret: new Secret('another') }],
    ['another weight', { weight: 2 }],
  ])('rebuilds a channel with %s', (_what, changes) => {
    const { channels } = newIdleRegistry([channelSettings({ callbackSecret: new Secret('one') })]);
    const before = channels.find('main');

    channels.replace([channelSettings({ callbackSecret: new Secret('one'), ...changes })]);

    expect(channels.find('main')).not.toBe(before);
    expect(idsOf(channels)).toEqual(['main']);
  });

  test('keeps a removed channel findable, and gives it no more orders', () => {
    const { channels } = newIdleRegistry([channelSettings({ id: 'gone' }), channelSettings()]);

    channels.replace([channelSettings()]);

    expect(idsOf(channels)).toEqual(['main']);
    expect(channels.all().map(({ channel }) => channel.settings.id)).toEqual(['main']);
    expect(channels.find('gone')?.channel.settings.id).toBe('gone');
  });

  test('restores a removed channel', () => {
    const { channels } = newIdleRegistry([channelSettings()]);

    channels.replace([]);
    channels.replace([channelSettings()]);

    expect(idsOf(channels)).toEqual(['main']);
  });

  test('that an adapter refuses leaves every channel as it was', () => {
    const { channels } = newIdleRegistry([channelSettings(), channelSettings({ id: 'other' })]);

    expect(() => {
      channels.replace([channelSettings({ weight: 2 }), channelSettings({ id: 'bad', adapter: 'missing' })]);
    }).toThrow('missing');

    expect(idsOf(channels).toSorted()).toEqual(['main', 'other']);
    expect(channels.find('main')?.channel.settings.weight).toBe(1);
  });

  test('opens a channel of an adapter again only if the text of the adapter has changed', () => {
    const settings = (sha256: string): ChannelSettings =>
      channelSettings({ ownAdapter: { adapter: BOREALIS, sha256 } });
    const { channels } = newIdleRegistry([settings('one')]);
    const find = () => channels.find('main')?.channel;
    const first = find();

    channels.replace([settings('one')]);
    expect(find()).toBe(first);

    channels.replace([settings('two')]);
    expect(find()).not.toBe(first);
  });

  test('closes no channel that may still be polled; the end closes all', async () => {
    const { channels, closed } = newIdleRegistry([channelSettings(), channelSettings({ id: 'gone' })]);

    channels.replace([channelSettings({ weight: 2 })]);
    expect(closed).toEqual([]);

    await channels.close();
    expect(closed.map(({ id, weight }) => `${id} ${weight}`).toSorted()).toEqual(['gone 1', 'main 1', 'main 2']);
  });
});

test('an unknown adapter stops the start', () => {
  expect(() => newIdleRegistry([channelSettings({ adapter: 'missing' })])).toThrow('missing');
});

/** Numbers from 0 to 1, exclusive, which are the same for the same seed (mulberry32). */
function seededChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
