import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { GetFaultsResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { GetActivityResponse } from '@reelgate/proto/tasks/v1/operator_service';
import {
  ChannelHourSchema,
  ChannelMinuteSchema,
  FaultHourSchema,
  FaultKind,
  FaultMinuteSchema,
} from '@reelgate/proto/tasks/v1/activity';
import type { ChannelMinute, FaultHour, FaultMinute } from '@reelgate/proto/tasks/v1/activity';
import { anActivity, beginOfMinute } from '../../../testing/an-activity.ts';
import { buildFaultsView, countChannelFaults } from './fault-series.ts';

const SERIES_SHOWN = 12;

const aMinute = (ago: number, over: MessageInitShape<typeof FaultMinuteSchema> = {}): FaultMinute =>
  create(FaultMinuteSchema, { ...over, minute: beginOfMinute(ago) });
const aChannelMinute = (ago: number, over: MessageInitShape<typeof ChannelMinuteSchema> = {}): ChannelMinute =>
  create(ChannelMinuteSchema, { ...over, minute: beginOfMinute(ago) });
const aSubject = (subject: string, ...minutes: FaultMinute[]): FaultHour =>
  create(FaultHourSchema, { subject, minutes });
interface FaultLists {
  readonly models?: readonly FaultHour[];
  readonly accounts?: readonly FaultHour[];
  readonly moreModels?: number;
}
const faultsOf = ({ models = [], accounts = [], moreModels = 0 }: FaultLists = {}) =>
  create(GetFaultsResponseSchema, {
    faults: [
      ...models.map((one) => ({ ...one, kind: FaultKind.MODEL })),
      ...accounts.map((one) => ({ ...one, kind: FaultKind.ACCOUNT })),
    ],
    moreModels,
  });
const activityOf = (channels: Readonly<Record<string, ChannelMinute[]>> = {}): GetActivityResponse =>
  anActivity({
    channels: Object.entries(channels).map(([channel, minutes]) => create(ChannelHourSchema, { channel, minutes })),
  });
const subjectsOf = (faults: FaultLists): readonly string[] =>
  buildFaultsView(faultsOf(faults), activityOf()).models.series.map(({ subject }) => subject);

describe('the pictures of what failed', () => {
  test('have sixty minutes each, the running one last, and none of an hour ago', () => {
    const minutes = [aMinute(60, { byUs: 9 }), aMinute(59, { byUs: 1 }), aMinute(0, { byUpstream: 2, byUs: 1 })];
    const [series] = buildFaultsView(faultsOf({ models: [aSubject('A', ...minutes)] }), activityOf()).models.series;

    expect(series?.minutes).toEqual([1, ...Array.from({ length: 58 }, () => 0), 3]);
  });

  test('draw what upstreams and we caused, and only count what clients caused', () => {
    const minute = aMinute(0, { byClient: 7, byUpstream: 2, byUs: 1 });
    const [series] = buildFaultsView(faultsOf({ accounts: [aSubject('acme', minute)] }), activityOf()).accounts.series;

    expect(series).toMatchObject({ byClient: 7, byUpstream: 2, byUs: 1 });
    expect(series?.minutes.at(-1)).toBe(3);
  });

  test('leave out what had no fault', () => {
    const view = buildFaultsView(
      faultsOf({ models: [aSubject('A', aMinute(1))] }),
      activityOf({ east: [aChannelMinute(1, { accepted: 5, completed: 5 })] }),
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
    const { series, more } = buildFaultsView(faultsOf({ models, moreModels: 4 }), activityOf()).models;

    expect([series.length, more]).toEqual([SERIES_SHOWN, 7]);
  });

  test('have those of channels from the activity, as faults of the upstream', () => {
    const east = [aChannelMinute(1, { accepted: 9, refused: 1, unknown: 2 }), aChannelMinute(0, { failedPolls: 3 })];
    const [series] = buildFaultsView(faultsOf(), activityOf({ east })).channels.series;

    expect(series).toMatchObject({ subject: 'east', byUpstream: 6, byUs: 0, byClient: 0 });
    expect(series?.minutes.slice(-2)).toEqual([3, 3]);
  });
});

test('an attempt that was accepted and a task that was completed are no fault of a channel', () => {
  const minute = aChannelMinute(0, { accepted: 1, completed: 1, refused: 2, unknown: 3, failed: 4, failedPolls: 5 });
  expect(countChannelFaults(minute)).toBe(14);
});
