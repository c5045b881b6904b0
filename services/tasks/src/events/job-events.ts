import { create } from '@bufbuild/protobuf';
import type { Bus } from '@reelgate/platform/bus/bus';
import { JobEndedSchema, JobQueuedSchema } from '@reelgate/proto/tasks/v1/job_events';

/** Makes workers quick; a lost one costs their next look. */
export function announceQueued(bus: Bus): (jobId: string) => void {
  return (jobId) => {
    bus.announce(JobQueuedSchema, create(JobQueuedSchema, { jobId }));
  };
}

/** Makes those quick who wait for a job; a lost one costs their next look. */
export function announceEnded(bus: Bus): (job: { readonly id: string; readonly accountId: string }) => void {
  return ({ id: jobId, accountId }) => {
    bus.announce(JobEndedSchema, create(JobEndedSchema, { jobId, accountId }));
  };
}
