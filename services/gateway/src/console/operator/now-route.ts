import type { Log } from '@reelgate/platform/log';
import type { Clock } from '@reelgate/platform/clock';
import type { Now } from '../../../console/api/operator-now.ts';
import type { ReadActs } from '../../clients/acts-client.ts';
import type { TaskChannels } from '../../clients/channels-client.ts';
import type { ReachPeers } from '../../clients/operator-clients.ts';
import type { ReadPulse } from '../../clients/pulse-client.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { ChannelPauses } from '../../relay/channels/channel-pauses.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { ifReadable } from '../client/task-parts.ts';
import { lightsOf } from './lights.ts';
import type { ChannelStanding } from './lights.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

const ACTS_SHOWN = 10;

export interface NowParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly channels: Pick<TaskChannels, 'list'>;
  readonly pulse: ReadPulse;
  readonly acts: ReadActs;
  readonly reach: ReachPeers;
  readonly relay: Pick<RelayChannels, 'all'>;
  readonly pauses: Pick<ChannelPauses, 'of'>;
}

/** Whether the service works now. It answers while other services are away. */
export function nowRoute(parts: NowParts): OperatorRouteEntry {
  return operatorRoute({
    method: 'GET',
    path: '/now',
    name: 'getNow',
    role: 'viewer',
    answer: (exchange) => nowOf(parts, exchange),
  });
}

async function nowOf(
  { clock, log, channels, pulse: readPulse, acts, reach, relay, pauses }: NowParts,
  { state }: Exchange,
): Promise<Now> {
  const [pulse, listed, page, services] = await Promise.all([
    ifReadable(log, 'pulse', readPulse(state)),
    ifReadable(log, 'channels', channels.list(state)),
    ifReadable(log, 'acts', acts({ limit: ACTS_SHOWN }, state)),
    reach(),
  ]);
  const standings: ChannelStanding[] = [
    ...(listed ?? []).map(({ id, isEnabled, circuit, pause }) => ({
      id,
      isEnabled,
      circuit,
      isPaused: pause !== undefined,
    })),
    ...relay.all().map(({ settings: { id, enabled }, circuit }) => ({
      id,
      isEnabled: enabled,
      circuit: circuit.state(),
      isPaused: pauses.of(id) !== undefined,
    })),
  ];
  return {
    lights: lightsOf(pulse, standings),
    unfinished: pulse?.unfinished ?? 0,
    acts: page?.acts ?? [],
    services,
    now: clock.now(),
  };
}
