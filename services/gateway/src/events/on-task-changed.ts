import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { TaskReader } from '../operations/read-task.ts';
import type { TaskChanges } from '../operations/task-changes.ts';

/** Drops a changed task from the cache and wakes the reads that wait for it. */
export function onTaskChanged(bus: Bus, reader: TaskReader, changes: TaskChanges): Promise<Subscription> {
  return bus.listen(TaskChangedSchema, ({ accountId, taskId }) => {
    reader.forget({ accountId, taskId });
    changes.changed({ accountId, taskId });
  });
}
