import type { RelayChannel } from './relay-channels.ts';

/** A full channel cannot tell when a call on it ends. */
const FULL_RETRY_MS = 1000;

/**
 * The milliseconds after which a channel may be tried; infinite for a channel that is down. At zero a permit of the
 * channel is taken, and the caller releases it.
 */
export type Admission = (channel: RelayChannel) => number;

export const admission: Admission = (channel) => admitted(channel, (circuit) => circuit.mayTry());

/** For the case that every channel is down: one call at a time finds out whether its channel works again. */
export const lastResort: Admission = (channel) => admitted(channel, (circuit) => circuit.mayTryAnyway());

function admitted(
  { permits, circuit, rate }: RelayChannel,
  mayTry: (circuit: RelayChannel['circuit']) => boolean,
): number {
  if (!permits.tryAcquire()) return FULL_RETRY_MS;
  if (!mayTry(circuit)) {
    permits.release();
    return Infinity;
  }
  if (rate.take()) return 0;
  permits.release();
  circuit.undecided();
  return rate.waitMs();
}
