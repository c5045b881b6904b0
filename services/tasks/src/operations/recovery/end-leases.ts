import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';

/** A store that leases work to workers. */
interface Leases {
  /** Ends every lease. Returns how many it ended. */
  endLeases(now: number): Promise<number>;
}

export interface EndLeasesDeps {
  readonly jobs: Leases;
  readonly webhooks: Leases;
  readonly batches: Leases;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Ends the leases of all workers. Only for the start of a process that has the database and all workers for itself: the
 * holders of the leases are dead then. Their work is taken up at once.
 */
export async function endLeases({ jobs, webhooks, batches, clock, log }: EndLeasesDeps): Promise<void> {
  const now = clock.now();
  const ended = {
    receivers: await webhooks.endLeases(now),
    jobs: await jobs.endLeases(now),
    batches: await batches.endLeases(now),
  };
  if (ended.receivers + ended.jobs + ended.batches > 0) log.info(ended, 'the leases of the process before were ended');
}
