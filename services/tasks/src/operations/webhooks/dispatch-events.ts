import type { Clock } from '@reelgate/platform/clock';
import type { EventDispatcher } from '../../store/webhook-store.ts';

/** Events of one transaction. An event has a delivery for each endpoint that hears it, at most 20 and one. */
const EVENTS_MAX = 200;
/** Transactions of one pass. */
const BATCHES_MAX = 50;

export interface DispatchDeps {
  readonly webhooks: EventDispatcher;
  readonly clock: Clock;
  /** Wakes streams and workers. If an announcement is lost, they see the events at their next read. */
  readonly announceDispatched: () => void;
}

/** One pass that gives new events their places in the streams and makes their deliveries. Returns how many it took. */
export async function dispatchEvents({ webhooks, clock, announceDispatched }: DispatchDeps): Promise<number> {
  let taken = 0;
  for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
    const inBatch = await webhooks.dispatch({ now: clock.now(), limit: EVENTS_MAX });
    taken += inBatch;
    if (inBatch > 0) announceDispatched();
    if (inBatch < EVENTS_MAX) break;
  }
  return taken;
}
