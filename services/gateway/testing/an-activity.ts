import { create } from '@bufbuild/protobuf';
import type { Message } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ChannelPauseSchema } from '@reelgate/proto/tasks/v1/channel_pause';
import { ChannelStatusSchema, GetActivityResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelStatus, GetActivityResponse } from '@reelgate/proto/tasks/v1/operator_service';
import { MinuteCountsSchema } from '@reelgate/proto/tasks/v1/activity';
import type { ChannelHour, MinuteCounts } from '@reelgate/proto/tasks/v1/activity';

const MINUTE_MS = 60_000;
const MINUTE = 1000;
/** Half a minute into the minute in which the activity is taken. */
export const ACTIVITY_AT = MINUTE * MINUTE_MS + 30_000;

/** The figures of the activity, with times in milliseconds since 1970. */
export interface ActivityFigures {
  readonly now?: number;
  readonly minutes?: readonly MinuteCounts[];
  readonly channels?: readonly ChannelHour[];
  readonly unfinished?: number;
  readonly pollLagMs?: number;
  readonly unsettled?: number;
  readonly unsettledMs?: number;
  readonly attention?: number;
  readonly attentionSince?: number | undefined;
}

/** The activity of a service at rest. */
export function anActivity({
  now = ACTIVITY_AT,
  minutes = [],
  channels = [],
  attentionSince,
  ...figures
}: ActivityFigures = {}): GetActivityResponse {
  const { unfinished = 0, pollLagMs = 0, unsettled = 0, unsettledMs = 0, attention = 0 } = figures;
  return create(GetActivityResponseSchema, {
    ...{ now: timestampFromMs(now), minutes: [...minutes], channels: [...channels] },
    ...{ unfinished, unsettled, attention, pollLagMs: BigInt(pollLagMs), unsettledMs: BigInt(unsettledMs) },
    ...(attentionSince === undefined ? {} : { attentionSince: timestampFromMs(attentionSince) }),
  });
}

/** The begin of a minute. `ago` is its distance from the activity, in minutes. */
export function beginOfMinute(ago: number) {
  return timestampFromMs((MINUTE - ago) * MINUTE_MS);
}

/** A minute of a service at rest. `ago` is its distance from the activity, in minutes. */
export function aMinute(ago: number, over: Partial<Omit<MinuteCounts, keyof Message>> = {}): MinuteCounts {
  return create(MinuteCountsSchema, { ...over, minute: beginOfMinute(ago) });
}

/** The field of a channel that an operator has paused. */
export function pausedBy(actor: string) {
  return { pause: create(ChannelPauseSchema, { actor }) };
}

/** A channel that takes orders. */
export function aChannel(over: Partial<Omit<ChannelStatus, keyof Message>> = {}): ChannelStatus {
  return create(ChannelStatusSchema, {
    ...{ id: 'one', enabled: true, circuit: 'closed', models: ['A'], endpoints: ['video.generation'] },
    ...over,
  });
}
