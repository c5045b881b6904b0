import type { Log } from '@reelgate/platform/log';
import type { Clock } from '@reelgate/platform/clock';
import type { ChannelStatus, GetFaultsResponse, GetActivityResponse } from '@reelgate/proto/tasks/v1/operator_service';
import type { Now, ServiceState } from '../../../console/api/operator-now.ts';
import { withDeadline } from '../../clients/caller.ts';
import type { Caller } from '../../clients/caller.ts';
import type { OperatorClients } from '../../clients/gateway-clients.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { ChannelPauses } from '../../relay/channels/channel-pauses.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { ifReadable } from '../client/task-parts.ts';
import { buildFaultsView } from './fault-series.ts';
import { gradeLights } from './lights.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { listRelayChannels } from './relay-channels-routes.ts';

export interface NowParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly clients: OperatorClients;
  readonly relay: RelayChannels;
  readonly pauses: ChannelPauses;
}

/** The time of the last answer of the tasks service to this gateway; undefined before the first. */
interface HeardFrom {
  at: number | undefined;
}

/**
 * The route that reports whether the service works now. It answers while other services are away, and its lights are
 * rules over the answers of all of them, so no RPC of one service replaces it.
 */
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
  const { clock } = parts;
  const { activity, channels, faults, services, unreachable } = await readHealth(parts, state);
  if (activity !== undefined) heard.at = clock.now();
  return {
    lights: gradeLights({ activity, channels, unreachable }),
    ...(activity === undefined ? { tasksAway: heard.at === undefined ? {} : { answeredAt: heard.at } } : {}),
    ...(activity === undefined ? {} : { unfinished: activity.unfinished }),
    ...(activity === undefined || faults === undefined ? {} : { faults: buildFaultsView(faults, activity) }),
    services,
    now: clock.now(),
  };
}

/** The current figures of all services. */
export interface Health {
  /** Undefined if the tasks service does not answer. */
  readonly activity: GetActivityResponse | undefined;
  /** Every channel, or undefined if those of the tasks service cannot be read. */
  readonly channels: readonly ChannelStatus[] | undefined;
  readonly faults: GetFaultsResponse | undefined;
  readonly services: readonly ServiceState[];
  readonly unreachable: ReadonlySet<string>;
}

export type HealthParts = Pick<NowParts, 'log' | 'clients' | 'relay' | 'pauses'>;

/** Reads the health of all services. Whatever cannot be read is left out. */
export async function readHealth({ log, clients, relay, pauses }: HealthParts, caller: Caller): Promise<Health> {
  const { tasks, reach } = clients;
  const [activity, listed, faults, services] = await Promise.all([
    ifReadable(log, 'activity', tasks.getActivity({}, withDeadline(caller))),
    ifReadable(log, 'channels', tasks.listChannels({}, withDeadline(caller))),
    ifReadable(log, 'faults', tasks.getFaults({}, withDeadline(caller))),
    reach(),
  ]);
  return {
    ...{ activity, faults, services },
    channels: listed && [...listed.channels, ...listRelayChannels({ relay, pauses })],
    unreachable: new Set(services.flatMap(({ name, isReachable }) => (isReachable ? [] : [name]))),
  };
}
