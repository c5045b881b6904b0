import { create } from '@bufbuild/protobuf';
import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { EventsDispatchedSchema } from '@reelgate/proto/tasks/v1/webhook_events';

export function announceDispatched(bus: Bus): () => void {
  return () => {
    bus.announce(EventsDispatchedSchema, create(EventsDispatchedSchema));
  };
}

/** Calls back when any process has dispatched events. */
export function onEventsDispatched(bus: Bus, heard: () => void): Promise<Subscription> {
  return bus.listen(EventsDispatchedSchema, heard);
}
