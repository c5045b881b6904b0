import type { Clock } from '@reelgate/platform/clock';
import type { EventStore } from '../../store/webhook-store.ts';

/** Events of one transaction. An event has a delivery for each endpoint that hears it, at most 20 and one. */
const EVENTS_MAX = 200;

export interface DispatchDeps {
  readonly webhooks: Pick<EventStore, 'dispatch'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Wakes streams and workers. If an announcement is lost, they see the events at their next read. */
  readonly announceDispatched: () => void;
}

/** One pass that gives new events their places in the streams and makes their deliveries. Returns how many it took. */
export async function dispatchEvents({ webhooks, clock, announceDispatched }: DispatchDeps): Promise<number> {
  const taken = await webhooks.dispatch({ now: clock.now(), limit: EVENTS_MAX });
  if (taken > 0) announceDispatched();
  return taken;
}
