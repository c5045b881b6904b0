import { fromJsonString, toJsonString } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import type { OutboxEvent } from '@reelgate/platform/bus/outbox';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { TaskChangedSchema, TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { Task, TaskInState } from '../domain/task.ts';
import type { WatchHub } from '../operations/watches/watch-hub.ts';
import { STATES, toWireUsage } from '../operations/reads/work-messages.ts';
import type { Finish } from '../store/finish.ts';

/** The event of a finished task, for the outbox. */
export function toFinishedEvent(task: Task, finish: Finish): { readonly type: string; readonly payload: string } {
  const message = toMessage(TaskFinishedSchema, {
    taskId: task.id,
    accountId: task.accountId,
    state: STATES[finish.state],
    finishedAt: timestampFromMs(finish.at),
    channel: task.mapping?.channel,
    requestId: task.requestId,
    usage: finish.usage && toWireUsage(finish.usage),
    upstreamCostMicroUsd: finish.upstreamCostMicroUsd === undefined ? undefined : BigInt(finish.upstreamCostMicroUsd),
  });
  return { type: TaskFinishedSchema.typeName, payload: toJsonString(TaskFinishedSchema, message) };
}

/** A replica of a newer release may have staged the event with a field that this one does not know. */
const READ = { ignoreUnknownFields: true };

export function publishFinished(bus: Bus): (event: OutboxEvent) => Promise<void> {
  return async ({ payload, ...event }) =>
    bus.publish(TaskFinishedSchema, fromJsonString(TaskFinishedSchema, payload, READ), event);
}

export function announceChanged(bus: Bus): (task: TaskInState) => void {
  return ({ id: taskId, accountId, state, trace }) =>
    bus.announce(TaskChangedSchema, toMessage(TaskChangedSchema, { taskId, accountId, state: STATES[state], trace }));
}

/** Has the hub read a task that any process has changed. If an announcement is lost, the sweep of the hub finds it. */
export function onTaskChanged(bus: Bus, hub: WatchHub): Promise<Subscription> {
  return bus.listen(TaskChangedSchema, ({ taskId, accountId }) => hub.hint({ taskId, accountId }));
}
