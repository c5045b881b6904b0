import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { JobStore } from '../../store/job-store.ts';
import type { DeliveryStore } from '../../store/webhook-store.ts';

export interface EndLeasesDeps {
  readonly jobs: Pick<JobStore, 'endLeases'>;
  readonly webhooks: Pick<DeliveryStore, 'endLeases'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/**
 * Ends the leases of all workers. Only for the start of a process that has the database and all workers for itself: the
 * holders of the leases are dead then. Their work is taken up at once.
 */
export async function endLeases({ jobs, webhooks, clock, log }: EndLeasesDeps): Promise<void> {
  const now = clock.now();
  const ended = { receivers: await webhooks.endLeases(now), jobs: await jobs.endLeases(now) };
  if (ended.receivers + ended.jobs > 0) log.info(ended, 'the leases of the process before were ended');
}
