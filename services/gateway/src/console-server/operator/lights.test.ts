import { describe, expect, test } from '@jest/globals';
import type { MinuteCounts } from '@reelgate/proto/tasks/v1/activity';
import type { Light, LightName } from '../../../console/api/operator-now.ts';
import { ACTIVITY_AT, aChannel, aMinute, anActivity, pausedBy } from '../../../testing/an-activity.ts';
import type { ActivityFigures } from '../../../testing/an-activity.ts';
import { gradeLights } from './lights.ts';
import type { LightInputs } from './lights.ts';

const MINUTE_MS = 60_000;
const CHANNEL = aChannel();

const lightOf = (name: LightName, over: ActivityFigures, inputs: Partial<LightInputs> = {}): Light | undefined =>
  gradeLights({ activity: anActivity(over), channels: [CHANNEL], unreachable: new Set(), ...inputs }).find(
    (light) => light.name === name,
  );

describe('a light is', () => {
  test.each<[string, LightName, ActivityFigures, Light['grade'], string]>([
    ['ok without any create', 'creates', {}, 'ok', '0 / min'],
    [
      'ok at few refusals',
      'creates',
      { minutes: [aMinute(1, { created: 95, refusedByUpstream: 1 })] },
      'ok',
      '10 / min',
    ],
    [
      'a warning at some',
      'creates',
      { minutes: [aMinute(1, { created: 19, refusedByUpstream: 2 })] },
      'warn',
      '2 / min',
    ],
    ['a fault in the running minute', 'creates', { minutes: [aMinute(0, { refusedByUs: 3 })] }, 'fail', '0 / min'],
    ['a fault a minute ago', 'creates', { minutes: [aMinute(1, { refusedByUpstream: 3 })] }, 'fail', '0 / min'],
    ['a warning two minutes later', 'creates', { minutes: [aMinute(2, { refusedByUpstream: 3 })] }, 'warn', '0 / min'],
    ['ok ten minutes later', 'creates', { minutes: [aMinute(10, { refusedByUpstream: 3 })] }, 'ok', '0 / min'],
    ['ok when clients are refused', 'creates', { minutes: [aMinute(0, { refusedByClient: 50 })] }, 'ok', '0 / min'],
    [
      'a fault that bad requests do not hide',
      'creates',
      { minutes: [aMinute(0, { refusedByClient: 500, refusedByUpstream: 5 })] },
      'fail',
      '0 / min',
    ],
    ['ok without any poll', 'polls', {}, 'ok', 'none due'],
    [
      'a warning at late polls',
      'polls',
      { minutes: [aMinute(1, { polls: 20, latePolls: 2 })] },
      'warn',
      '90 % on time',
    ],
    [
      'a fault at many late polls',
      'polls',
      { minutes: [aMinute(0, { polls: 4, latePolls: 3 })] },
      'fail',
      '25 % on time',
    ],
    ['a warning at a late poll', 'polls', { pollLagMs: 5000 }, 'warn', 'none due'],
    ['a fault at a very late poll', 'polls', { pollLagMs: 30_000 }, 'fail', 'none due'],
    [
      'ok when content fails',
      'ends',
      { minutes: [aMinute(0, { completed: 1, failedByClient: 9 })] },
      'ok',
      '1.1 / min',
    ],
    ['ok when operators end tasks', 'ends', { minutes: [aMinute(0, { failedByUs: 9 })] }, 'ok', '0.9 / min'],
    ['a fault when upstreams fail', 'ends', { minutes: [aMinute(0, { failedByUpstream: 9 })] }, 'fail', '0.9 / min'],
    ['ok with young settlements', 'settlements', { unsettled: 2, unsettledMs: 59_999 }, 'ok', '2 open'],
    ['a warning at an old settlement', 'settlements', { unsettled: 1, unsettledMs: MINUTE_MS }, 'warn', '1 open'],
    ['a fault at a very old one', 'settlements', { unsettled: 1, unsettledMs: 10 * MINUTE_MS }, 'fail', '1 open'],
    ['ok with nothing to decide', 'attention', {}, 'ok', '0 waiting'],
    [
      'a warning at anything to decide',
      'attention',
      { attention: 3, attentionSince: ACTIVITY_AT },
      'warn',
      '3 waiting',
    ],
    [
      'a fault when it waits for an hour',
      'attention',
      { attention: 1, attentionSince: ACTIVITY_AT - 60 * MINUTE_MS },
      'fail',
      '1 waiting',
    ],
  ])('%s (%s)', (_what, name, over, grade, figure) => {
    const light = lightOf(name, over);
    expect(light).toMatchObject({ grade, figure });
    expect(light?.why === undefined).toBe(grade === 'ok');
  });

  test.each<[string, Parameters<typeof aChannel>[0][], Light['grade'], string | undefined]>([
    ['ok when every channel is in use', [{}, {}], 'ok', undefined],
    ['ok without a channel', [], 'ok', undefined],
    ['a warning at a paused one of two', [{}, { id: 'two', ...pausedBy('ada') }], 'warn', 'two is paused by ada'],
    ['a warning at a tripped one', [{}, { id: 'two', circuit: 'open' }], 'warn', 'two gets no work, because it failed'],
    ['ok when the tripped one is disabled', [{}, { circuit: 'open', enabled: false }], 'ok', undefined],
    ['a warning when the only one is tried again', [{ circuit: 'half_open' }], 'warn', 'one is being tried again'],
    ['a fault when a model has none', [{}, { models: ['B'], ...pausedBy('ada') }], 'fail', 'no channel serves a model'],
    ['a fault when models have none', [{ models: ['A', 'B'], circuit: 'open' }], 'fail', 'no channel serves 2 models'],
  ])('%s (channels)', (_what, channels, grade, why) => {
    const light = lightOf('channels', {}, { channels: channels.map(aChannel) });
    expect([light?.grade, light?.why]).toEqual([grade, why]);
  });

  test('a fault while the channels cannot be read', () => {
    expect(lightOf('channels', {}, { channels: undefined })).toMatchObject({ grade: 'fail', figure: '–' });
  });

  test.each<[string, string[], ActivityFigures, Light['grade'], string]>([
    ['billing', ['billing'], {}, 'fail', 'billing cannot be reached, so no create can be paid'],
    ['media', ['media'], {}, 'warn', 'media cannot be reached, so no create with media can be taken'],
    ['media beside a fault', ['media'], { minutes: [aMinute(0, { refusedByUs: 3 })] }, 'fail', '3 of 3 creates were'],
  ])('a warning or a fault of creates without %s, which the counts do not show', (_what, gone, over, grade, why) => {
    const light = lightOf('creates', over, { unreachable: new Set(gone) });
    expect([light?.grade, light?.why?.slice(0, why.length)]).toEqual([grade, why]);
  });
});

test.each<[string, MinuteCounts[], string]>([
  [
    'a fault now',
    [aMinute(0, { refusedByUpstream: 5 }), aMinute(3, { created: 10 })],
    '5 of 5 creates were refused by upstreams or by us in the last two minutes, and 5 of 15 in the last ten',
  ],
  [
    'a fault that is over',
    [aMinute(0, { created: 5 }), aMinute(3, { refusedByUpstream: 1 })],
    "none of the last two minutes' 5 creates was refused by upstreams or by us, but 1 of 6 in the last ten was",
  ],
  [
    'a fault after which nothing came',
    [aMinute(3, { refusedByUpstream: 4 })],
    'in the last two minutes there were no creates; 4 of 4 in the last ten were refused by upstreams or by us',
  ],
])('the light of creates tells %s', (_what, minutes, why) => {
  expect(lightOf('creates', { minutes })?.why).toBe(why);
});

test('only a light whose last two minutes were clean is recovering, and not while creates cannot be paid', () => {
  const over = { minutes: [aMinute(0, { created: 9 }), aMinute(2, { refusedByUpstream: 9 })] };
  const without = { unreachable: new Set(['billing']) };
  const faulty = { minutes: [aMinute(0, { refusedByUpstream: 9 })] };
  const lights = [lightOf('creates', over), lightOf('creates', faulty), lightOf('creates', over, without)];

  expect(lights.map((light) => light?.isRecovering)).toEqual([true, undefined, undefined]);
});

test('refusals and failures of the last ten minutes stand apart by their cause, also in a green light', () => {
  const minutes = [
    aMinute(0, { created: 100, refusedByClient: 2, refusedByUpstream: 1, completed: 90, failedByClient: 3 }),
    aMinute(9, { refusedByUpstream: 2, refusedByUs: 1, failedByUs: 1 }),
    aMinute(10, { refusedByUpstream: 7 }),
  ];

  expect(lightOf('creates', { minutes })).toMatchObject({ grade: 'ok', causes: { client: 2, upstream: 3, us: 1 } });
  expect(lightOf('ends', { minutes })).toMatchObject({ grade: 'ok', causes: { client: 3, upstream: 0, us: 1 } });
});

test('a rate is taken over the minutes that have passed, of the running one only its part', () => {
  expect(lightOf('creates', { minutes: [aMinute(0, { created: 19 })] })?.figure).toBe('2 / min');
});

test('a light has the last 60 minutes, the oldest first, and what is older is left out', () => {
  const minutes = [60, 59, 1, 0].map((ago) => aMinute(ago, { settled: 100 + ago }));
  expect(lightOf('settlements', { minutes })?.minutes).toEqual([159, ...Array.from({ length: 57 }, () => 0), 101, 100]);
});

test('without the tasks service every light fails and says why', () => {
  const lights = gradeLights({ activity: undefined, channels: [CHANNEL], unreachable: new Set() });
  expect(lights.map(({ grade, why }) => [grade, why])).toEqual(
    Array.from({ length: 6 }, () => ['fail', 'the tasks service does not answer']),
  );
});

describe('when all creates are refused for a minute, and all is well again', () => {
  const REFUSED_FROM = 20;
  const REFUSED_UNTIL = 80;
  /** Six creates a minute, as they are known `second` seconds after the beginning of minute 1000. */
  const gradeAt = (second: number): Light['grade'] | undefined => {
    const counts = new Map<number, MinuteCounts>();
    for (let at = -540; at <= second; at += 10) {
      const ago = -Math.floor(at / 60);
      const minute = counts.get(ago) ?? aMinute(ago, {});
      const isRefused = at >= REFUSED_FROM && at < REFUSED_UNTIL;
      const { created, refusedByUpstream } = minute;
      counts.set(ago, {
        ...minute,
        created: created + (isRefused ? 0 : 1),
        refusedByUpstream: refusedByUpstream + (isRefused ? 1 : 0),
      });
    }
    return lightOf('creates', { now: 1000 * MINUTE_MS + second * 1000, minutes: [...counts.values()] })?.grade;
  };
  const gradesOf = (from: number, to: number): Set<Light['grade'] | undefined> =>
    new Set(Array.from({ length: (to - from) / 10 + 1 }, (_, step) => gradeAt(from + step * 10)));

  test('the light is red within that minute, and no longer red after two minutes of well-being', () => {
    expect(gradesOf(-60, 10)).toEqual(new Set(['ok']));
    // the counts and the page are each up to ten seconds old
    expect(gradeAt(REFUSED_FROM + 40)).toBe('fail');
    expect(gradesOf(REFUSED_UNTIL + 120, REFUSED_UNTIL + 400)).toEqual(new Set(['warn']));
    expect(gradeAt(660)).toBe('ok');
  });
});
