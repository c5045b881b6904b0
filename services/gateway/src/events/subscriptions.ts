import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import type { AskedWait } from '@reelgate/platform/limits/asked-waits';
import type { TakesOfSecond } from '@reelgate/platform/limits/announce-takes';
import { fromWireWait } from '../clients/channels-client.ts';
import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import type { Span, Tracing } from '@reelgate/platform/trace/trace';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { AttentionChangedSchema } from '@reelgate/proto/tasks/v1/attention_events';
import { ChannelCallsSchema } from '@reelgate/proto/tasks/v1/channel_calls';
import { ChannelPausesChangedSchema } from '@reelgate/proto/tasks/v1/channel_pause';
import { CallKind, ChannelWaitSchema } from '@reelgate/proto/tasks/v1/channel_wait';
import { JobEndedSchema, JobQueuedSchema } from '@reelgate/proto/tasks/v1/job_events';
import { TaskChangedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { EventsDispatchedSchema } from '@reelgate/proto/tasks/v1/webhook_events';
import type { Principals } from '../operations/principals.ts';
import type { TaskReader } from '../operations/read-task.ts';
import type { ServiceSignals, TaskChanges } from '../operations/task-changes.ts';

interface TaskChangedDeps {
  readonly reader: TaskReader;
  readonly changes: TaskChanges;
  readonly tracing: Tracing;
}

/**
 * Drops a changed task from the cache and wakes the reads that wait for it. It records a span of the task only if a
 * read waits, because each replica receives each change, and most replicas have no waiting read.
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

/** Wakes the reads that wait for the end of a job. */
export function onJobEnded(bus: Bus, changes: TaskChanges): Promise<Subscription> {
  return bus.listen(JobEndedSchema, ({ accountId, jobId }) => changes.announceJobEnd({ accountId, taskId: jobId }));
}

/** Wakes the idle workers when a job is queued. */
export function onJobQueued(bus: Bus, wake: () => void): Promise<Subscription> {
  return bus.listen(JobQueuedSchema, wake);
}

/** Drops a changed or revoked token from the cache. */
export function onTokenChanged(bus: Bus, principals: Principals): Promise<Subscription> {
  return bus.listen(TokenChangedSchema, ({ tokenId }) => principals.drop(tokenId));
}

/** Wakes the idle workers when deliveries are due, or when the sender does not say whether any are. */
export function onDeliveriesDue(bus: Bus, wake: () => void): Promise<Subscription> {
  return bus.listen(EventsDispatchedSchema, ({ deliveriesDue }) => {
    if (deliveriesDue) wake();
  });
}

/** Notifies open pages of the signals of the services. */
export function onServiceSignals(bus: Bus, signals: ServiceSignals): Promise<readonly Subscription[]> {
  return Promise.all([
    bus.listen(EventsDispatchedSchema, () => signals.tell({ of: 'events_dispatched' })),
    bus.listen(AttentionChangedSchema, ({ taskId }) => signals.tell({ of: 'attention', id: taskId })),
    bus.listen(ChannelPausesChangedSchema, ({ channel }) => signals.tell({ of: 'channels', id: channel })),
  ]);
}

/** Reads the pauses again when a channel was paused or resumed. */
export function onChannelPausesChanged(bus: Bus, wake: () => void): Promise<Subscription> {
  return bus.listen(ChannelPausesChangedSchema, wake);
}

/** Passes on the waits that other processes have been asked for by upstreams. */
export function onChannelWait(bus: Bus, notify: (wait: AskedWait) => void): Promise<Subscription> {
  return bus.listen(ChannelWaitSchema, (wait) => notify(fromWireWait(wait)));
}

/** Announces the wait only for calls that begin work, because the gateway sends no other calls. */
export function announceChannelWait(bus: Bus, { peer: channel, until }: AskedWait): void {
  bus.announce(
    ChannelWaitSchema,
    toMessage(ChannelWaitSchema, { channel, kind: CallKind.WORK, until: timestampFromMs(until) }),
  );
}

/** The tasks service keeps them for a gateway that starts. */
export function announceChannelCalls(bus: Bus, process: string): (takes: TakesOfSecond) => void {
  return ({ peer: channel, at, count }) =>
    bus.announce(
      ChannelCallsSchema,
      toMessage(ChannelCallsSchema, { channel, process, second: timestampFromMs(at), count }),
    );
}
