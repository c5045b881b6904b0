import type { Log } from '@reelgate/platform/log';
import type { Clock } from '@reelgate/platform/clock';
import type { Now } from '../../../console/api/operator-now.ts';
import type { TaskChannel, TaskChannels } from '../../clients/channels-client.ts';
import type { ReachPeers } from '../../clients/gateway-clients.ts';
import type { FaultReads } from '../../clients/faults-client.ts';
import type { ReadPulse } from '../../clients/pulse-client.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { ChannelPauses } from '../../relay/channels/channel-pauses.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { ifReadable } from '../client/task-parts.ts';
import { buildFaultsView } from './fault-series.ts';
import { gradeLights } from './lights.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import type { ChannelStanding } from './served-models.ts';

export interface NowParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly channels: TaskChannels;
  readonly pulse: ReadPulse;
  readonly faults: FaultReads;
  readonly reach: ReachPeers;
  readonly relay: RelayChannels;
  readonly pauses: ChannelPauses;
}

/** The time of the last answer of the tasks service to this gateway; undefined before the first. */
interface HeardFrom {
  at: number | undefined;
}

/** The route that reports whether the service works now. It answers while other services are away. */
export function nowRoute(parts: NowParts): OperatorRouteEntry {
  const heard: HeardFrom = { at: undefined };
  return operatorRoute({
    method: 'GET',
    path: '/now',
    name: 'getNow',
    role: 'viewer',
    answer: (exchange) => readNow(parts, heard, exchange),
  });
}

async function readNow(parts: NowParts, heard: HeardFrom, { state }: Exchange): Promise<Now> {
  const { clock, log, channels, pulse: readPulse, faults, reach } = parts;
  const [pulse, listed, failed, services] = await Promise.all([
    ifReadable(log, 'pulse', readPulse(state)),
    ifReadable(log, 'channels', channels.list(state)),
    ifReadable(log, 'faults', faults.faults(state)),
    reach(),
  ]);
  if (pulse !== undefined) heard.at = clock.now();
  const unreachable = new Set(services.flatMap(({ name, isReachable }) => (isReachable ? [] : [name])));
  return {
    lights: gradeLights({
      pulse,
      channels: listStandings(parts, listed),
      unreachable,
    }),
    ...(pulse === undefined ? { tasksAway: heard.at === undefined ? {} : { answeredAt: heard.at } } : {}),
    ...(pulse === undefined ? {} : { unfinished: pulse.unfinished }),
    ...(pulse === undefined || failed === undefined ? {} : { faults: buildFaultsView(failed, pulse) }),
    services,
    now: clock.now(),
  };
}

/** The standing of every channel; undefined: those of the tasks service cannot be read. */
export function listStandings(
  parts: Pick<NowParts, 'relay' | 'pauses'>,
  listed: readonly TaskChannel[] | undefined,
): readonly ChannelStanding[] | undefined {
  return listed === undefined ? undefined : [...listed.map(toStanding), ...listRelayStandings(parts)];
}

function toStanding({ id, isEnabled, circuit, pause, models, endpoints }: TaskChannel): ChannelStanding {
  return { id, isEnabled, circuit, models, endpoints, pausedBy: pause?.actor };
}

/** The channels that this gateway calls itself, as it sees them. */
function listRelayStandings({ relay, pauses }: Pick<NowParts, 'relay' | 'pauses'>): readonly ChannelStanding[] {
  return relay.all().map(({ settings: { id, enabled, models, endpoints }, circuit }) => ({
    id,
    isEnabled: enabled,
    circuit: circuit.state(),
    models: Object.keys(models),
    endpoints,
    pausedBy: pauses.of(id)?.actor,
  }));
}
