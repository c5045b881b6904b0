import { create } from '@bufbuild/protobuf';
import type { Bus } from '@reelgate/platform/bus/bus';
import { JobEndedSchema, JobQueuedSchema } from '@reelgate/proto/tasks/v1/job_events';

/** Wakes workers. If an announcement is lost, they find the job at their next poll. */
export function announceQueued(bus: Bus): (jobId: string) => void {
  return (jobId) => {
    bus.announce(JobQueuedSchema, create(JobQueuedSchema, { jobId }));
  };
}

/** Wakes clients that wait for a job. If an announcement is lost, they see the end at their next poll. */
export function announceEnded(bus: Bus): (job: { readonly id: string; readonly accountId: string }) => void {
  return ({ id: jobId, accountId }) => {
    bus.announce(JobEndedSchema, create(JobEndedSchema, { jobId, accountId }));
  };
}
