import { create } from '@bufbuild/protobuf';
import type { Message } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ChannelPauseSchema } from '@reelgate/proto/tasks/v1/channel_pause';
import { ChannelStatusSchema, GetPulseResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelStatus, GetPulseResponse } from '@reelgate/proto/tasks/v1/operator_service';
import { MinuteCountsSchema } from '@reelgate/proto/tasks/v1/pulse';
import type { ChannelHour, MinuteCounts } from '@reelgate/proto/tasks/v1/pulse';

const MINUTE_MS = 60_000;
const MINUTE = 1000;
/** Half a minute into the minute in which a pulse is taken. */
export const PULSE_AT = MINUTE * MINUTE_MS + 30_000;

/** The figures of a pulse, with times in milliseconds since 1970. */
export interface PulseFigures {
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

/** A pulse of a service at rest. */
export function aPulse({
  now = PULSE_AT,
  minutes = [],
  channels = [],
  attentionSince,
  ...figures
}: PulseFigures = {}): GetPulseResponse {
  const { unfinished = 0, pollLagMs = 0, unsettled = 0, unsettledMs = 0, attention = 0 } = figures;
  return create(GetPulseResponseSchema, {
    ...{ now: timestampFromMs(now), minutes: [...minutes], channels: [...channels] },
    ...{ unfinished, unsettled, attention, pollLagMs: BigInt(pollLagMs), unsettledMs: BigInt(unsettledMs) },
    ...(attentionSince === undefined ? {} : { attentionSince: timestampFromMs(attentionSince) }),
  });
}

/** The begin of a minute. `ago` is its distance from the pulse, in minutes. */
export function beginOfMinute(ago: number) {
  return timestampFromMs((MINUTE - ago) * MINUTE_MS);
}

/** A minute of a service at rest. `ago` is its distance from the pulse, in minutes. */
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
