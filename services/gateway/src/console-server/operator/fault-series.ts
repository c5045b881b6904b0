import type { FaultGroup, FaultSeries, FaultsView } from '../../../console/api/operator-now.ts';
import { FaultKind } from '@reelgate/proto/tasks/v1/activity';
import type { ChannelHour, ChannelMinute, FaultHour, FaultMinute } from '@reelgate/proto/tasks/v1/activity';
import type { GetFaultsResponse, GetActivityResponse } from '@reelgate/proto/tasks/v1/operator_service';
import { readClock, sumLastHour } from './minute-series.ts';

/** The most channels, models and accounts that have a picture. */
const SERIES_SHOWN = 12;

/** Counts the failures at a channel in a minute. */
export function countChannelFaults({ refused, unknown, failed, failedPolls }: ChannelMinute): number {
  return refused + unknown + failed + failedPolls;
}

/** Builds the pictures of what failed in the last hour; what had no fault has none. */
export function buildFaultsView(
  { faults, moreModels, moreAccounts }: GetFaultsResponse,
  activity: GetActivityResponse,
): FaultsView {
  const now = readClock(activity);
  const ofKind = (wanted: FaultKind): readonly FaultSeries[] =>
    faults.filter(({ kind }) => kind === wanted).map((one) => buildSeries(one, now));
  return {
    channels: toGroup(
      activity.channels.map((hour) => buildChannelSeries(hour, now)),
      0,
    ),
    models: toGroup(ofKind(FaultKind.MODEL), moreModels),
    accounts: toGroup(ofKind(FaultKind.ACCOUNT), moreAccounts),
  };
}

function toGroup(all: readonly FaultSeries[], more: number): FaultGroup {
  const faulty = all.filter((one) => weigh(one) > 0).toSorted((one, other) => weigh(other) - weigh(one));
  return { series: faulty.slice(0, SERIES_SHOWN), more: more + Math.max(0, faulty.length - SERIES_SHOWN) };
}

/** Faults that only clients caused come last. */
function weigh({ byUpstream, byUs, byClient }: FaultSeries): number {
  return byUpstream + byUs + byClient / (byClient + 1);
}

function buildSeries({ subject, minutes }: FaultHour, now: number): FaultSeries {
  const sum = (count: (minute: FaultMinute) => number): number =>
    minutes.reduce((total, minute) => total + count(minute), 0);
  return {
    subject,
    minutes: sumLastHour(minutes, now, ({ byUpstream, byUs }) => byUpstream + byUs),
    byUpstream: sum(({ byUpstream }) => byUpstream),
    byUs: sum(({ byUs }) => byUs),
    byClient: sum(({ byClient }) => byClient),
  };
}

function buildChannelSeries({ channel: subject, minutes }: ChannelHour, now: number): FaultSeries {
  const counted = sumLastHour(minutes, now, countChannelFaults);
  return { subject, minutes: counted, byUpstream: counted.reduce((sum, one) => sum + one, 0), byUs: 0, byClient: 0 };
}
