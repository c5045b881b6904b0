import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { JobQueuedSchema } from '@reelgate/proto/tasks/v1/job_events';

/** Wakes the idle workers when a job is queued. */
export function onJobQueued(bus: Bus, wake: () => void): Promise<Subscription> {
  return bus.listen(JobQueuedSchema, wake);
}
