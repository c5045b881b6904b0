import type { RelayChannel } from './relay-channels.ts';

/** A channel that is full says when it is not by nobody's clock. */
const FULL_RETRY_MS = 1000;

/** After how many milliseconds a channel may be tried; infinite for one that is down. Whoever may try it now does. */
export type Admission = (channel: RelayChannel) => number;

export const admission: Admission = (channel) => admitted(channel, (circuit) => circuit.mayTry());

/** Where all are down: one call at a time finds out whether that is still so. */
export const lastResort: Admission = (channel) => admitted(channel, (circuit) => circuit.mayTryAnyway());

function admitted(
  { inFlight, settings, circuit, rate }: RelayChannel,
  mayTry: (circuit: RelayChannel['circuit']) => boolean,
): number {
  if (inFlight >= settings.inFlightMax) return FULL_RETRY_MS;
  if (!mayTry(circuit)) return Infinity;
  if (rate.take()) return 0;
  circuit.undecided();
  return rate.waitMs();
}
