import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ChannelStatusSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelStatus } from '@reelgate/proto/tasks/v1/operator_service';
import { ChannelHourSchema } from '@reelgate/proto/tasks/v1/activity';
import type { ChannelHour } from '@reelgate/proto/tasks/v1/activity';
import type { ChannelRow } from '../../../console/api/operator-channels.ts';
import type { RelayChannel } from '../../relay/channels/relay-channels.ts';
import type { ChannelPause } from '../../clients/channels-client.ts';
import { toContractJson } from '../contract-json.ts';

/** A channel of the tasks service, and its last hour if anything happened. */
export function taskChannelRow(channel: ChannelStatus, hour: ChannelHour | undefined): ChannelRow {
  return {
    channel: toContractJson(ChannelStatusSchema, channel),
    isRelay: false,
    ...(hour === undefined ? {} : { hour: toContractJson(ChannelHourSchema, hour) }),
  };
}

/** A channel that this gateway calls itself: its circuit and its calls, as far as they go. */
export function relayChannelRow(channel: RelayChannel, pause?: ChannelPause): ChannelRow {
  return { channel: toContractJson(ChannelStatusSchema, toChannelStatus(channel, pause)), isRelay: true };
}

/** Describes a channel of this gateway as the tasks service describes its own. */
export function toChannelStatus({ settings, circuit, permits }: RelayChannel, pause?: ChannelPause): ChannelStatus {
  const { id, enabled, inFlightMax, requestsPerMinute, priority, weight, models, endpoints } = settings;
  return create(ChannelStatusSchema, {
    ...{ id, adapter: 'relay', enabled, circuit: circuit.state(), inFlight: permits.inUse() },
    ...{ inFlightLimit: inFlightMax, requestsPerMinute, priority, weight },
    ...{ models: Object.keys(models), endpoints: [...endpoints] },
    ...(pause === undefined ? {} : { pause: toPauseMessage(pause) }),
  });
}

function toPauseMessage({ channel, at, actor, reason, endsAt }: ChannelPause) {
  return {
    ...{ channel, at: timestampFromMs(at), actor, reason },
    ...(endsAt === undefined ? {} : { endsAt: timestampFromMs(endsAt) }),
  };
}
