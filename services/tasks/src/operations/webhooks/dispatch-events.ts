import type { Clock } from '@reelgate/platform/clock';
import type { EventDispatcher } from '../../store/webhook-store.ts';

/** Events of one transaction. An event has a delivery for each subscribed endpoint, at most 20 and one. */
const EVENTS_MAX = 200;
/** Transactions of one pass. */
const BATCHES_MAX = 50;
/** The most events that one pass takes. If it takes fewer, no event is left. */
export const DISPATCHED_MAX = EVENTS_MAX * BATCHES_MAX;

/**
 * Wakes streams, and workers if deliveries are due. If an announcement is lost, they see the events at their next read.
 */
export type AnnounceDispatched = (news: { readonly deliveriesDue: boolean }) => void;

export interface DispatchDeps {
  readonly webhooks: EventDispatcher;
  readonly clock: Clock;
  readonly announceDispatched: AnnounceDispatched;
}

/**
 * Runs one pass that assigns new events their places in the streams and creates their deliveries. Returns how many it
 * took.
 */
export async function dispatchEvents({ webhooks, clock, announceDispatched }: DispatchDeps): Promise<number> {
  let taken = 0;
  for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
    const { events, deliveries } = await webhooks.dispatch({ now: clock.now(), limit: EVENTS_MAX });
    taken += events;
    if (events > 0) announceDispatched({ deliveriesDue: deliveries > 0 });
    if (events < EVENTS_MAX) break;
  }
  return taken;
}
