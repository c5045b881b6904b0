import { describe, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { channelSettings } from '../../testing/channel-settings.ts';
import { seededChance } from '../../testing/seeded-chance.ts';
import type { Channel, ChannelSettings } from './channel.ts';
import { openFleet } from './channel-registry.ts';
import type { Fleet } from './channel-registry.ts';

function openIdleFleet(settings: readonly ChannelSettings[], chance = seededChance(1)) {
  const closed: ChannelSettings[] = [];
  const idle = (one: ChannelSettings): Channel => ({
    settings: one,
    submit: async () => ({ outcome: 'unknown', error: 'not asked' }),
    look: async () => ({ found: false, gone: false, error: 'not asked' }),
    list: async () => undefined,
    cancel: async () => false,
    test: async () => ({ ok: true, detail: '' }),
    close: async () => void closed.push(one),
  });
  return { fleet: openFleet(settings, { clock: fakeClock(), adapters: { scripted: idle }, chance }), closed };
}

const idsOf = (fleet: Fleet, model = 'Alpha-H3'): string[] =>
  fleet.serving('generation', model).map(({ channel }) => channel.settings.id);

describe('the channels that serve an order', () => {
  test('come by priority, the highest first, whatever their weight', () => {
    const { fleet } = openIdleFleet([
      channelSettings({ id: 'low', priority: -1, weight: 1000 }),
      channelSettings({ id: 'high', priority: 2, weight: 0.001 }),
      channelSettings({ id: 'middle', priority: 0 }),
    ]);

    for (let time = 0; time < 50; time += 1) expect(idsOf(fleet)).toEqual(['high', 'middle', 'low']);
  });

  test('are tried first by their weight among equals, and each stands in the list once', () => {
    const { fleet } = openIdleFleet([
      channelSettings({ id: 'three', weight: 3 }),
      channelSettings({ id: 'one', weight: 1 }),
    ]);
    const orders = Array.from({ length: 4000 }, () => idsOf(fleet));

    expect(orders.filter(([first]) => first === 'three').length / orders.length).toBeCloseTo(0.75, 1);
    for (const order of orders) expect(order.toSorted()).toEqual(['one', 'three']);
  });

  test('do not include one that is switched off, serves another kind or does not know the model', () => {
    const { fleet } = openIdleFleet([
      channelSettings({ id: 'off', enabled: false }),
      channelSettings({ id: 'other kind', endpoints: ['video.context_ir'] }),
      channelSettings({ id: 'other model', models: { 'Other-V1': 'other' } }),
      channelSettings({ id: 'right' }),
    ]);

    expect(idsOf(fleet)).toEqual(['right']);
    expect(fleet.all()).toHaveLength(4);
  });

  test.each(['toString', '__proto__', 'constructor'])('are none for a model that is called %s', (model) => {
    expect(idsOf(openIdleFleet([channelSettings()]).fleet, model)).toEqual([]);
  });
});

describe('a new configuration', () => {
  test('keeps the state of a channel that it does not change', () => {
    const { fleet } = openIdleFleet([channelSettings()]);
    const before = fleet.find('main');

    fleet.replace([channelSettings({ apiKey: new Secret('upstream-key') })]);

    expect(fleet.find('main')).toBe(before);
  });

  test.each<[string, Partial<ChannelSettings>]>([
    ['another key', { apiKey: new Secret('another') }],
    ['another weight', { weight: 2 }],
  ])('makes a channel with %s anew', (_what, changes) => {
    const { fleet } = openIdleFleet([channelSettings()]);
    const before = fleet.find('main');

    fleet.replace([channelSettings(changes)]);

    expect(fleet.find('main')).not.toBe(before);
    expect(idsOf(fleet)).toEqual(['main']);
  });

  test('leaves a channel that it takes out to be found, and gives it nothing more', () => {
    const { fleet } = openIdleFleet([channelSettings({ id: 'gone' }), channelSettings()]);

    fleet.replace([channelSettings()]);

    expect(idsOf(fleet)).toEqual(['main']);
    expect(fleet.all().map(({ channel }) => channel.settings.id)).toEqual(['main']);
    expect(fleet.find('gone')?.channel.settings.id).toBe('gone');
  });

  test('takes a channel in again', () => {
    const { fleet } = openIdleFleet([channelSettings()]);

    fleet.replace([]);
    fleet.replace([channelSettings()]);

    expect(idsOf(fleet)).toEqual(['main']);
  });

  test('closes nothing that may still be asked; the end closes everything', async () => {
    const { fleet, closed } = openIdleFleet([channelSettings(), channelSettings({ id: 'gone' })]);

    fleet.replace([channelSettings({ weight: 2 })]);
    expect(closed).toEqual([]);

    await fleet.close();
    expect(closed.map(({ id, weight }) => `${id} ${weight}`).toSorted()).toEqual(['gone 1', 'main 1', 'main 2']);
  });
});

test('an adapter that nobody wrote stops the start', () => {
  expect(() => openIdleFleet([channelSettings({ adapter: 'missing' })])).toThrow('missing');
});
