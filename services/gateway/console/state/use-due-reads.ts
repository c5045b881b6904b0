import { useEffect } from 'preact/hooks';
import { useLiveSwitch } from './live.ts';
import { serverNow } from './server-clock.ts';

/** An attempt takes a moment. What is still due then is read again after as long. */
const AFTER_MS = 3000;

interface Due {
  readonly nextAttemptAt?: number;
}

/**
 * Reads deliveries again when an attempt was due, because attempts are not announced. It is quiet while updates are
 * paused.
 */
export function useDueReads(deliveries: readonly Due[], refresh: () => void): void {
  const { state } = useLiveSwitch();
  const isPaused = state === 'paused';
  useEffect(() => {
    const due = nextDue(deliveries);
    if (due === undefined || isPaused) return undefined;
    const timer = setTimeout(refresh, Math.max(0, due - serverNow()) + AFTER_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [deliveries, refresh, isPaused]);
}

/** Returns the time at which the next attempt is due; undefined if none is. */
export function nextDue(deliveries: readonly Due[]): number | undefined {
  const times = deliveries.flatMap(({ nextAttemptAt }) => (nextAttemptAt === undefined ? [] : [nextAttemptAt]));
  return times.length === 0 ? undefined : Math.min(...times);
}
