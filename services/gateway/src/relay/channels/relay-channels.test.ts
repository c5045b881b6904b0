import { afterEach, describe, expect, test } from '@jest/globals';
import type { TakesOfSecond } from '@reelgate/platform/limits/announce-takes';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { relayChannelSettings } from './relay-channel-config.ts';
import type { CheckedRelayChannel } from './relay-channel-config.ts';
import { newRelayChannels } from './relay-channels.ts';
import type { RelayChannels } from './relay-channels.ts';

let channels: RelayChannels;
afterEach(() => channels.close());
const settingsOf = (...some: Partial<CheckedRelayChannel>[]) =>
  some.map((one) => relayChannelSettings(aRelayChannel(one)));
const open = (some: Partial<CheckedRelayChannel>[], chance: () => number = () => 0.5): RelayChannels => {
  channels = newRelayChannels(settingsOf(...some), { clock: fakeClock(), chance });
  return channels;
};
const serving = (endpoint: string, model: string): string[] =>
  channels.serving(endpoint, model).map(({ settings }) => settings.id);

describe('the minute of a channel', () => {
  const limits = { requests_per_minute: 2, in_flight: 10 };
  const AT = Math.floor(fakeClock().now() / 1000) * 1000;

  test('has the calls that earlier processes made, and the calls of this process once', () => {
    open([
      { id: 'a', limits },
      { id: 'b', limits },
    ]);
    const admit = (index: number) => channels.all()[index]?.limits.admit();
    expect(admit(1)).toBe(0);

    channels.learnCalls([
      { peer: 'a', at: AT, count: 2 },
      { peer: 'b', at: AT + 1000, count: 2 },
    ]);

    expect(admit(0)).toBeGreaterThan(0);
    expect(admit(1)).toBe(0);
  });

  test('is told before its calls are made', () => {
    const told: TakesOfSecond[] = [];
    channels = newRelayChannels(settingsOf({ id: 'a', limits }), {
      clock: fakeClock(),
      chance: () => 0.5,
      announceCalls: (calls) => void told.push(calls),
    });

    void channels.all()[0]?.limits.admit({ caller: 'acme' });

    expect(told).toEqual([{ peer: 'a', at: AT, count: 1 }]);
  });
});

describe('a call is tried on', () => {
  test('the enabled channels that adapt its endpoint and have its model, and no other', () => {
    open([
      { id: 'a' },
      { id: 'off', enabled: false },
      { id: 'b', endpoints: ['embeddings'] },
      { id: 'c', models: { other: 'x' } },
    ]);

    expect(serving('chat', 'some-model')).toEqual(['a']);
    expect(serving('chat', 'constructor')).toEqual([]);
    expect(serving('rerank', 'other')).toEqual(['c']);
  });
  test('no channel that is paused, though it stays known', () => {
    const paused = new Set(['a']);
    channels = newRelayChannels(settingsOf({ id: 'a' }, { id: 'b' }), {
      clock: fakeClock(),
      chance: () => 0.5,
      isPaused: (id) => paused.has(id),
    });

    expect(serving('chat', 'some-model')).toEqual(['b']);
    paused.add('b');
    expect([serving('chat', 'some-model'), channels.knows('chat', 'some-model')]).toEqual([[], true]);
    paused.clear();
    expect(serving('chat', 'some-model')).toHaveLength(2);
  });
  test('channels of a higher priority first', () => {
    open([{ id: 'low', priority: -1 }, { id: 'high', priority: 5 }, { id: 'middle' }]);

    expect(serving('chat', 'some-model')).toEqual(['high', 'middle', 'low']);
  });
  test('channels of equal priority in proportion to their weights', () => {
    let seed = 1;
    open(
      [
        { id: 'a', weight: 3 },
        { id: 'b', weight: 1 },
      ],
      () => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed / 2_147_483_647;
      },
    );
    const first = Array.from({ length: 4000 }, () => serving('chat', 'some-model')[0]);

    expect(first.filter((id) => id === 'a').length / 4000).toBeCloseTo(0.75, 1);
  });
});

test('a new configuration keeps the state of unchanged channels', () => {
  open([{ id: 'a' }, { id: 'b' }]);
  const [a, b] = channels.all();
  for (let fault = 0; fault < 5; fault += 1) a?.circuit.failed();
  channels.replace(settingsOf({ id: 'a' }, { id: 'b', priority: 1 }, { id: 'c' }));

  expect(channels.all().map(({ settings }) => settings.id)).toEqual(['a', 'b', 'c']);
  expect(channels.all()[0]).toBe(a);
  expect(channels.all()[0]?.circuit.state()).toBe('open');
  expect(channels.all()[1]).not.toBe(b);
});
