import { create } from '@bufbuild/protobuf';
import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { AttentionChangedSchema } from '@reelgate/proto/tasks/v1/attention_events';
import { ChannelCallsSchema } from '@reelgate/proto/tasks/v1/channel_calls';
import { ChannelPausesChangedSchema } from '@reelgate/proto/tasks/v1/channel_pause';
import { ChannelWaitSchema } from '@reelgate/proto/tasks/v1/channel_wait';
import { JobEndedSchema, JobQueuedSchema } from '@reelgate/proto/tasks/v1/job_events';
import { LaneWaitsSchema } from '@reelgate/proto/tasks/v1/queue';
import { EventsDispatchedSchema } from '@reelgate/proto/tasks/v1/webhook_events';
import type { AskedWait } from '@reelgate/platform/limits/asked-waits';
import { fromWireCalls, fromWireWait, toWireWait } from '../rpc/mapping-channel.ts';
import type { ChannelCalls } from '../store/operator-store.ts';
import type { AnnounceDispatched } from '../operations/webhooks/dispatch-events.ts';

export function announcePause(bus: Bus): (channelId: string) => void {
  return (channel) => bus.announce(ChannelPausesChangedSchema, create(ChannelPausesChangedSchema, { channel }));
}

/** Calls back when any process has paused or resumed a channel. */
export function onPausesChanged(bus: Bus, listener: () => void): Promise<Subscription> {
  return bus.listen(ChannelPausesChangedSchema, listener);
}

/** Other processes leave a channel alone as soon as they learn of the wait that its upstream asks for. */
export function announceWait(bus: Bus): (wait: AskedWait) => void {
  return (wait) => bus.announce(ChannelWaitSchema, toWireWait(wait));
}

/** Calls back when the upstream of a channel has asked a process of any service to wait. */
export function onWaitAsked(bus: Bus, listener: (wait: AskedWait) => void): Promise<Subscription> {
  return bus.listen(ChannelWaitSchema, (wait) => listener(fromWireWait(wait)));
}

/** Calls back when a gateway gives calls to a channel. */
export function onCallsGiven(bus: Bus, listener: (calls: ChannelCalls) => void): Promise<Subscription> {
  return bus.listen(ChannelCallsSchema, (calls) => listener(fromWireCalls(calls)));
}

export function announceLane(bus: Bus): (lane: string) => void {
  return (lane) => bus.announce(LaneWaitsSchema, create(LaneWaitsSchema, { lane }));
}

/** Calls back when a task of any process waits in a lane that the process did not know. */
export function onLaneWaits(bus: Bus, listener: (lane: string) => void): Promise<Subscription> {
  return bus.listen(LaneWaitsSchema, ({ lane }) => listener(lane));
}

/** Makes pages of operators fresher. */
export function announceAttention(bus: Bus): (taskId: string) => void {
  return (taskId) => bus.announce(AttentionChangedSchema, create(AttentionChangedSchema, { taskId }));
}

/** Wakes workers. If an announcement is lost, they find the job at their next poll. */
export function announceQueued(bus: Bus): (jobId: string) => void {
  return (jobId) => bus.announce(JobQueuedSchema, create(JobQueuedSchema, { jobId }));
}

/** Wakes clients that wait for a job. If an announcement is lost, they see the end at their next poll. */
export function announceEnded(bus: Bus): (job: { readonly id: string; readonly accountId: string }) => void {
  return ({ id: jobId, accountId }) => bus.announce(JobEndedSchema, create(JobEndedSchema, { jobId, accountId }));
}

export function announceDispatched(bus: Bus): AnnounceDispatched {
  return ({ deliveriesDue }) => bus.announce(EventsDispatchedSchema, create(EventsDispatchedSchema, { deliveriesDue }));
}

/** Calls back when any process has dispatched events. */
export function onEventsDispatched(bus: Bus, listener: () => void): Promise<Subscription> {
  return bus.listen(EventsDispatchedSchema, listener);
}
