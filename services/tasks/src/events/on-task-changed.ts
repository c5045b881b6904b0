import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { WatchHub } from '../operations/watches/watch-hub.ts';

/** Has the hub read a task that any process has changed. If an announcement is lost, the sweep of the hub finds it. */
export function onTaskChanged(bus: Bus, hub: Pick<WatchHub, 'hint'>): Promise<Subscription> {
  return bus.listen(TaskChangedSchema, ({ taskId, accountId }) => {
    hub.hint({ taskId, accountId });
  });
}
