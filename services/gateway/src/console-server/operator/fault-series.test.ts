import { describe, expect, test } from '@jest/globals';
import { PULSE_AT, aPulse } from '../../../testing/a-pulse.ts';
import type { FaultMinute, Faults } from '../../clients/faults-client.ts';
import type { ChannelMinute, Pulse } from '../../clients/pulse-client.ts';
import { buildFaultsView, countChannelFaults } from './fault-series.ts';

const MINUTE_MS = 60_000;
const SERIES_SHOWN = 12;

const aMinute = (ago: number, over: Partial<FaultMinute> = {}): FaultMinute => ({
  at: (1000 - ago) * MINUTE_MS,
  byClient: 0,
  byUpstream: 0,
  byUs: 0,
  ...over,
});
const aChannelMinute = (ago: number, over: Partial<ChannelMinute> = {}): ChannelMinute => ({
  at: (1000 - ago) * MINUTE_MS,
  accepted: 0,
  refused: 0,
  unknown: 0,
  completed: 0,
  failed: 0,
  failedPolls: 0,
  answerMsP50: undefined,
  answerMsP95: undefined,
  ...over,
});
const aSubject = (subject: string, ...minutes: readonly FaultMinute[]) => ({ subject, minutes });
const faultsOf = (over: Partial<Faults> = {}): Faults => ({
  now: PULSE_AT,
  models: [],
  moreModels: 0,
  accounts: [],
  moreAccounts: 0,
  ...over,
});
const pulseOf = (channels: Readonly<Record<string, readonly ChannelMinute[]>> = {}): Pulse =>
  aPulse({
    channels: new Map(
      Object.entries(channels).map(([id, minutes]) => [
        id,
        { minutes, answerMsP50: undefined, answerMsP95: undefined, lastError: undefined, lastErrorAt: undefined },
      ]),
    ),
  });
const subjectsOf = (faults: Partial<Faults>): readonly string[] =>
  buildFaultsView(faultsOf(faults), pulseOf()).models.series.map(({ subject }) => subject);

describe('the pictures of what failed', () => {
  test('have sixty minutes each, the running one last, and none of an hour ago', () => {
    const minutes = [aMinute(60, { byUs: 9 }), aMinute(59, { byUs: 1 }), aMinute(0, { byUpstream: 2, byUs: 1 })];
    const [series] = buildFaultsView(faultsOf({ models: [aSubject('A', ...minutes)] }), pulseOf()).models.series;

    expect(series?.minutes).toEqual([1, ...Array.from({ length: 58 }, () => 0), 3]);
  });

  test('draw what upstreams and we caused, and only count what clients caused', () => {
    const minute = aMinute(0, { byClient: 7, byUpstream: 2, byUs: 1 });
    const [series] = buildFaultsView(faultsOf({ accounts: [aSubject('acme', minute)] }), pulseOf()).accounts.series;

    expect(series).toMatchObject({ byClient: 7, byUpstream: 2, byUs: 1 });
    expect(series?.minutes.at(-1)).toBe(3);
  });

  test('leave out what had no fault', () => {
    const view = buildFaultsView(
      faultsOf({ models: [aSubject('A', aMinute(1))] }),
      pulseOf({ east: [aChannelMinute(1, { accepted: 5, completed: 5 })] }),
    );

    expect(view).toEqual({
      channels: { series: [], more: 0 },
      models: { series: [], more: 0 },
      accounts: { series: [], more: 0 },
    });
  });

  test('begin with the most faults, and end with those that only clients caused, however many', () => {
    expect(
      subjectsOf({
        models: [
          aSubject('of clients', aMinute(1, { byClient: 10_000 })),
          aSubject('one', aMinute(1, { byUs: 1 })),
          aSubject('five', aMinute(1, { byUpstream: 3, byUs: 2 })),
        ],
      }),
    ).toEqual(['five', 'one', 'of clients']);
  });

  test('are at most twelve, and the others are counted with those that the service left out', () => {
    const models = Array.from({ length: SERIES_SHOWN + 3 }, (_, at) => aSubject(`m${at}`, aMinute(1, { byUs: 1 })));
    const { series, more } = buildFaultsView(faultsOf({ models, moreModels: 4 }), pulseOf()).models;

    expect([series.length, more]).toEqual([SERIES_SHOWN, 7]);
  });

  test('have those of channels from the pulse, as faults of the upstream', () => {
    const east = [aChannelMinute(1, { accepted: 9, refused: 1, unknown: 2 }), aChannelMinute(0, { failedPolls: 3 })];
    const [series] = buildFaultsView(faultsOf(), pulseOf({ east })).channels.series;

    expect(series).toMatchObject({ subject: 'east', byUpstream: 6, byUs: 0, byClient: 0 });
    expect(series?.minutes.slice(-2)).toEqual([3, 3]);
  });
});

test('an attempt that was accepted and a task that was completed are no fault of a channel', () => {
  const minute = aChannelMinute(0, { accepted: 1, completed: 1, refused: 2, unknown: 3, failed: 4, failedPolls: 5 });
  expect(countChannelFaults(minute)).toBe(14);
});
