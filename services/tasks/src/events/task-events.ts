import { create, fromJsonString, toJsonString } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Bus } from '@reelgate/platform/bus/bus';
import type { OutboxEvent } from '@reelgate/platform/bus/outbox';
import { TaskChangedSchema, TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { Task } from '../domain/task.ts';
import { STATES, toWireUsage } from '../rpc/mapping-task.ts';
import type { Finish } from '../store/task-store.ts';

/** The event of a finished task, for the outbox. */
export function finishedEvent(task: Task, finish: Finish): { readonly type: string; readonly payload: string } {
  const message = create(TaskFinishedSchema, {
    taskId: task.id,
    accountId: task.accountId,
    state: STATES[finish.state],
    finishedAt: timestampFromMs(finish.at),
    ...(finish.usage === undefined ? {} : { usage: toWireUsage(finish.usage) }),
  });
  return { type: TaskFinishedSchema.typeName, payload: toJsonString(TaskFinishedSchema, message) };
}

export function publishFinished(bus: Bus): (event: OutboxEvent) => Promise<void> {
  return (event) => bus.publish(TaskFinishedSchema, fromJsonString(TaskFinishedSchema, event.payload), event.id);
}

export function announceChanged(bus: Bus): (task: Pick<Task, 'id' | 'accountId' | 'state'>) => void {
  return ({ id, accountId, state }) => {
    bus.announce(TaskChangedSchema, create(TaskChangedSchema, { taskId: id, accountId, state: STATES[state] }));
  };
}
