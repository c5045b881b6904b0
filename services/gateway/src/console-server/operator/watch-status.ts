import type { OperatorStatus } from '../../../console/api/operator-status.ts';
import type { FaultReads } from '../../clients/faults-client.ts';
import type { ReadConfiguration } from '../../clients/gateway-clients.ts';
import type { Caller } from '../../clients/caller.ts';
import { ifReadable } from '../client/task-parts.ts';
import { gradeLights } from './lights.ts';
import { listStandings } from './now-route.ts';
import type { NowParts } from './now-route.ts';
import { readStatus } from './status.ts';

/** Every page of every operator asks; the services are asked once in this time. */
const FRESH_MS = 5000;

export interface StatusParts extends NowParts {
  readonly faults: FaultReads;
  readonly configuration: ReadConfiguration;
}

export type ReadOperatorStatus = (caller: Caller) => Promise<OperatorStatus | undefined>;

/** Reads what is wrong now. Questions of the same few seconds share one answer. */
export function watchStatus(parts: StatusParts): ReadOperatorStatus {
  let last: { readonly at: number; readonly status: Promise<OperatorStatus | undefined> } | undefined;
  let answeredAt: number | undefined;
  const read = async (caller: Caller): Promise<OperatorStatus | undefined> => {
    const { clock, log, channels, pulse, reach, faults, configuration } = parts;
    const [hour, listed, failed, services] = await Promise.all([
      ifReadable(log, 'pulse', pulse(caller)),
      ifReadable(log, 'channels', channels.list(caller)),
      ifReadable(log, 'faults', faults.faults(caller)),
      reach(),
    ]);
    if (hour !== undefined) answeredAt = clock.now();
    const unreachable = new Set(services.flatMap(({ name, isReachable }) => (isReachable ? [] : [name])));
    const paused = (listed ?? []).flatMap(({ pause }) => (pause === undefined ? [] : [pause.at]));
    return readStatus({
      lights: gradeLights({ pulse: hour, channels: listStandings(parts, listed), unreachable }),
      pulse: hour,
      faults: failed,
      unreachable,
      answeredAt,
      pausedSince: paused.length === 0 ? undefined : Math.min(...paused),
      refusedConfiguration: configuration().refused,
    });
  };
  return (caller) => {
    const now = parts.clock.now();
    if (last === undefined || now - last.at >= FRESH_MS || now < last.at) last = { at: now, status: read(caller) };
    return last.status;
  };
}
