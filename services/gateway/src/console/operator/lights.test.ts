import { describe, expect, test } from '@jest/globals';
import type { Light, LightName } from '../../../console/api/operator-now.ts';
import type { Minute, Pulse } from '../../clients/pulse-client.ts';
import { lightsOf } from './lights.ts';
import type { ChannelStanding } from './lights.ts';

const MINUTE_MS = 60_000;
const NOW = 1000 * MINUTE_MS + 5000;
const CHANNEL: ChannelStanding = { id: 'one', isEnabled: true, isPaused: false, circuit: 'closed' };

function aPulse(over: Partial<Pulse> = {}): Pulse {
  return {
    now: NOW,
    minutes: [],
    channels: new Map(),
    unfinished: 0,
    pollLagMs: 0,
    unsettled: 0,
    unsettledMs: 0,
    attention: 0,
    attentionSince: undefined,
    ...over,
  };
}
const aMinute = (ago: number, over: Partial<Minute>): Minute => ({
  at: (1000 - ago) * MINUTE_MS,
  created: 0,
  refused: 0,
  polls: 0,
  latePolls: 0,
  settled: 0,
  ...over,
});
const lightOf = (name: LightName, over: Partial<Pulse>, channels = [CHANNEL]): Light | undefined =>
  lightsOf(aPulse(over), channels).find((light) => light.name === name);

describe('a light is', () => {
  test.each<[string, LightName, Partial<Pulse>, Light['grade'], string]>([
    ['ok without any create', 'creates', {}, 'ok', '0 / min'],
    ['ok at few refusals', 'creates', { minutes: [aMinute(1, { created: 99, refused: 1 })] }, 'ok', '9.9 / min'],
    [
      'a warning at some refusals',
      'creates',
      { minutes: [aMinute(1, { created: 9, refused: 1 })] },
      'warn',
      '0.9 / min',
    ],
    ['a fault at many refusals', 'creates', { minutes: [aMinute(10, { refused: 4 })] }, 'fail', '0 / min'],
    ['ok when the refusals are old', 'creates', { minutes: [aMinute(11, { refused: 4 })] }, 'ok', '0 / min'],
    ['ok without any poll', 'polls', {}, 'ok', 'none due'],
    [
      'a warning at late polls',
      'polls',
      { minutes: [aMinute(2, { polls: 10, latePolls: 1 })] },
      'warn',
      '90 % on time',
    ],
    ['a warning at a late poll', 'polls', { pollLagMs: 5000 }, 'warn', 'none due'],
    ['a fault at a very late poll', 'polls', { pollLagMs: 30_000 }, 'fail', 'none due'],
    ['ok with young settlements', 'settlements', { unsettled: 2, unsettledMs: 59_999 }, 'ok', '2 open'],
    ['a warning at an old settlement', 'settlements', { unsettled: 1, unsettledMs: MINUTE_MS }, 'warn', '1 open'],
    ['a fault at a very old one', 'settlements', { unsettled: 1, unsettledMs: 10 * MINUTE_MS }, 'fail', '1 open'],
    ['ok with nothing to decide', 'attention', {}, 'ok', '0 waiting'],
    ['a warning at anything to decide', 'attention', { attention: 3, attentionSince: NOW }, 'warn', '3 waiting'],
    [
      'a fault when it waits for an hour',
      'attention',
      { attention: 1, attentionSince: NOW - 60 * MINUTE_MS },
      'fail',
      '1 waiting',
    ],
  ])('%s (%s)', (_what, name, over, grade, figure) => {
    const light = lightOf(name, over);
    expect(light).toMatchObject({ grade, figure });
    expect(light?.why === undefined).toBe(grade === 'ok');
  });

  test.each<[string, Partial<ChannelStanding>[], Light['grade'], string | undefined]>([
    ['ok when every channel is in use', [{}, {}], 'ok', undefined],
    ['ok without a channel', [], 'ok', undefined],
    ['a warning at a paused one', [{}, { id: 'two', isPaused: true }], 'warn', 'two is paused'],
    ['a warning at a tripped one', [{}, { id: 'two', circuit: 'open' }], 'warn', 'two gets no work, because it failed'],
    ['ok when the tripped one is disabled', [{}, { circuit: 'open', isEnabled: false }], 'ok', undefined],
    ['a fault when none is in use', [{ circuit: 'half_open' }], 'fail', 'one is being tried again'],
  ])('%s (channels)', (_what, channels, grade, why) => {
    const standings = channels.map((one) => ({ ...CHANNEL, ...one }));
    const light = lightOf('channels', {}, standings);
    expect([light?.grade, light?.why]).toEqual([grade, why]);
  });
});

test('a light has the last 60 minutes, the oldest first, and what is older is left out', () => {
  const minutes = [60, 59, 1, 0].map((ago) => aMinute(ago, { settled: 100 + ago }));
  expect(lightOf('settlements', { minutes })?.minutes).toEqual([159, ...Array.from({ length: 57 }, () => 0), 101, 100]);
});

test('without the tasks service every light fails and says why', () => {
  const lights = lightsOf(undefined, [CHANNEL]);
  expect(lights.map(({ grade, why }) => [grade, why])).toEqual(
    Array.from({ length: 5 }, () => ['fail', 'the tasks service does not answer']),
  );
});
