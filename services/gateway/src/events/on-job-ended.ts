import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { JobEndedSchema } from '@reelgate/proto/tasks/v1/job_events';
import type { TaskChanges } from '../operations/task-changes.ts';

/** Tells that a job has ended. */
export function onJobEnded(bus: Bus, changes: TaskChanges): Promise<Subscription> {
  return bus.listen(JobEndedSchema, ({ accountId, jobId }) => {
    changes.announceJobEnd({ accountId, taskId: jobId });
  });
}
