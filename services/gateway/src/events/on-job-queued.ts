import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { JobQueuedSchema } from '@reelgate/proto/tasks/v1/job_events';

/** Makes free hands look at once. */
export function onJobQueued(bus: Bus, wake: () => void): Promise<Subscription> {
  return bus.listen(JobQueuedSchema, wake);
}
