import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import type { Clock } from '@reelgate/platform/clock';
import type { Client } from '@reelgate/platform/rpc/service';
import { ChannelPauseSchema } from '@reelgate/proto/tasks/v1/channel_pause';
import type { ChannelPause as PauseMessage } from '@reelgate/proto/tasks/v1/channel_pause';
import {
  ChannelStatusSchema,
  ListChannelsResponseSchema,
  TestChannelResponseSchema,
} from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelStatus, OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelPause } from '../../clients/channels-client.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { refuse } from '../../refusals.ts';
import type { ChannelPauses } from '../../relay/channels/channel-pauses.ts';
import type { RelayChannel, RelayChannels } from '../../relay/channels/relay-channels.ts';
import { testRelayChannel } from '../../relay/channels/relay-checks.ts';
import { toContractJson } from '../contract-json.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

export interface RelayChannelsParts {
  readonly clock: Clock;
  /** The channels that this gateway calls itself. */
  readonly relay: RelayChannels;
  readonly pauses: ChannelPauses;
}

/**
 * `GET /relay_channels` and `POST /relay_channels/{id}/test`: the channels that this gateway calls itself, which no
 * service knows. They answer as `ListChannels` and `TestChannel` do, with the circuits and calls of this gateway.
 */
export function relayChannelsRoutes(parts: RelayChannelsParts): OperatorRouteEntry[] {
  return [
    operatorRoute({
      method: 'GET',
      path: '/relay_channels',
      name: 'listRelayChannels',
      role: 'viewer',
      answer: async () => {
        // the pauses of an older read are still shown
        await parts.pauses.refresh().catch(() => undefined);
        return toContractJson(
          ListChannelsResponseSchema,
          toMessage(ListChannelsResponseSchema, { channels: listRelayChannels(parts) }),
        );
      },
    }),
    operatorRoute({
      method: 'POST',
      path: '/relay_channels/{id}/test',
      name: 'testRelayChannel',
      role: 'operator',
      answer: (exchange) => testChannel(parts, exchange),
    }),
  ];
}

/** Lists the channels that this gateway calls itself, as the tasks service lists its own. */
export function listRelayChannels({ relay, pauses }: Omit<RelayChannelsParts, 'clock'>): ChannelStatus[] {
  return relay.all().map((channel) => toChannelStatus(channel, pauses.of(channel.settings.id)));
}

function toChannelStatus({ settings, circuit, permits }: RelayChannel, pause?: ChannelPause): ChannelStatus {
  const { id, enabled, inFlightMax, requestsPerMinute, priority, weight, models, endpoints } = settings;
  return toMessage(ChannelStatusSchema, {
    ...{ id, adapter: 'relay', upstreamAccount: '', enabled, circuit: circuit.state(), inFlight: permits.inUse() },
    ...{ inFlightLimit: inFlightMax, requestsPerMinute, priority, weight },
    ...{ models: Object.keys(models), endpoints: [...endpoints] },
    pause: pause && toPauseMessage(pause),
  });
}

function toPauseMessage({ channel, at, actor, reason, endsAt }: ChannelPause): PauseMessage {
  return toMessage(ChannelPauseSchema, {
    ...{ channel, actor, reason },
    at: timestampFromMs(at),
    endsAt: toTimestamp(endsAt),
  });
}

async function testChannel({ clock, relay }: RelayChannelsParts, { params }: Exchange): Promise<object> {
  const channel = relay.all().find(({ settings }) => settings.id === params['id']);
  if (channel === undefined) throw refuse('not_found', { message: 'there is no such channel' });
  const startedAt = clock.now();
  const outcome = await testRelayChannel(channel);
  const tookMs = BigInt(clock.now() - startedAt);
  return toContractJson(TestChannelResponseSchema, toMessage(TestChannelResponseSchema, { ...outcome, tookMs }));
}

/** Applies a pause of an operator to the channels of this gateway before it is answered; other gateways hear of it. */
export function applyPauses(
  tasks: Client<typeof OperatorService>,
  pauses: ChannelPauses,
): Client<typeof OperatorService> {
  const refreshAfter = async <A>(change: Promise<A>): Promise<A> => {
    const answer = await change;
    await pauses.refresh().catch(() => undefined);
    return answer;
  };
  return {
    ...tasks,
    pauseChannel: (...call) => refreshAfter(tasks.pauseChannel(...call)),
    resumeChannel: (...call) => refreshAfter(tasks.resumeChannel(...call)),
  };
}
