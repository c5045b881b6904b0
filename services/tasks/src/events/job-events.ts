import { create } from '@bufbuild/protobuf';
import type { Bus } from '@reelgate/platform/bus';
import { JobQueuedSchema } from '@reelgate/proto/tasks/v1/job_events';

/** Makes workers quick; a lost one costs their next look. */
export function announceQueued(bus: Bus): (jobId: string) => void {
  return (jobId) => {
    bus.announce(JobQueuedSchema, create(JobQueuedSchema, { jobId }));
  };
}
