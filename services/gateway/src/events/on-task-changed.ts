import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import type { Span, Tracing } from '@reelgate/platform/trace/trace';
import { NO_SPAN } from '@reelgate/platform/trace/trace-none';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { TaskReader } from '../operations/read-task.ts';
import type { TaskChanges } from '../operations/task-changes.ts';

interface TaskChangedDeps {
  readonly reader: Pick<TaskReader, 'forget'>;
  readonly changes: Pick<TaskChanges, 'announceChange' | 'countWatches'>;
  readonly tracing: Pick<Tracing, 'enter'>;
}

/**
 * Drops a changed task from the cache and wakes the reads that wait for it. That is a span of the task where a read
 * waits: each replica hears each change, and most of them have nothing to wake.
 */
export function onTaskChanged(bus: Bus, { reader, changes, tracing }: TaskChangedDeps): Promise<Subscription> {
  return bus.listen(TaskChangedSchema, ({ accountId, taskId, trace }) => {
    const task = { accountId, taskId };
    const reads = trace === '' ? 0 : changes.countWatches(task);
    const span = reads === 0 ? NO_SPAN : beginSpan(tracing.enter(trace), taskId, reads);
    reader.forget(task);
    changes.announceChange(task, span.carrier);
    span.end();
  });
}

function beginSpan(task: Span, taskId: string, reads: number): Span {
  return task.child(`process ${TaskChangedSchema.typeName}`, {
    kind: 'consumer',
    attributes: {
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': TaskChangedSchema.typeName,
      'reelgate.task.id': taskId,
      'reelgate.reads.woken': reads,
    },
  });
}
