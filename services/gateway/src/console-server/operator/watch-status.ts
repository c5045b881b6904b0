import type { OperatorStatus } from '../../../console/api/operator-status.ts';
import type { Caller } from '../../clients/caller.ts';
import { toMs } from '../../clients/wire-values.ts';
import { gradeLights } from './lights.ts';
import { readHealth } from './now-route.ts';
import type { NowParts } from './now-route.ts';
import { readStatus } from './status.ts';

/** Every page of every operator asks; the services are asked once in this time. */
const FRESH_MS = 5000;

export type StatusParts = NowParts;

export type ReadOperatorStatus = (caller: Caller) => Promise<OperatorStatus | undefined>;

/** Reads what is wrong now. Questions of the same few seconds share one answer. */
export function watchStatus(parts: StatusParts): ReadOperatorStatus {
  let last: { readonly at: number; readonly status: Promise<OperatorStatus | undefined> } | undefined;
  let answeredAt: number | undefined;
  const read = async (caller: Caller): Promise<OperatorStatus | undefined> => {
    const { clock, clients } = parts;
    const { activity, channels, faults, unreachable } = await readHealth(parts, caller);
    if (activity !== undefined) answeredAt = clock.now();
    const paused = (channels ?? []).flatMap(({ pause }) => toMs(pause?.at) ?? []);
    return readStatus({
      lights: gradeLights({ activity, channels, unreachable }),
      ...{ activity, faults, unreachable, answeredAt },
      pausedSince: paused.length === 0 ? undefined : Math.min(...paused),
      refusedConfiguration: clients.configuration().refused,
    });
  };
  return (caller) => {
    const now = parts.clock.now();
    if (last === undefined || now - last.at >= FRESH_MS || now < last.at) last = { at: now, status: read(caller) };
    return last.status;
  };
}
