import { FULL_RETRY_MS } from '@reelgate/platform/limits/peer-limits';
import type { RelayChannel } from './relay-channels.ts';

/**
 * The milliseconds after which a channel may be tried; infinite for a channel that is down. At zero a permit of the
 * channel is taken, and the caller releases it.
 */
export type Admission = (channel: RelayChannel) => Promise<number>;

export const admission: Admission = (channel) => admitToChannel(channel, false);

/** For the case that every channel is down: one call at a time finds out whether its channel works again. */
export const lastResort: Admission = (channel) => admitToChannel(channel, true);

async function admitToChannel({ permits, limits }: RelayChannel, isLastResort: boolean): Promise<number> {
  if (!permits.tryAcquire()) return FULL_RETRY_MS;
  const waitMs = await limits.admit(isLastResort);
  if (waitMs > 0) permits.release();
  return waitMs;
}
