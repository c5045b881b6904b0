import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { EventsDispatchedSchema } from '@reelgate/proto/tasks/v1/webhook_events';

/** Wakes the idle workers when deliveries are due. */
export function onEventsDispatched(bus: Bus, wake: () => void): Promise<Subscription> {
  return bus.listen(EventsDispatchedSchema, wake);
}
