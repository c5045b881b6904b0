import { useEffect, useRef } from 'preact/hooks';
import { useLiveSwitch, isLivePaused } from './live.ts';
import { serverNow } from './api.ts';
import { currentOutage } from './outage.ts';

/** An attempt takes a moment. What is still due then is read again after as long. */
const AFTER_MS = 3000;

interface Due {
  readonly nextAttemptAt?: string;
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
    return () => clearTimeout(timer);
  }, [deliveries, refresh, isPaused]);
}

/** Returns the time at which the next attempt is due; undefined if none is. */
export function nextDue(deliveries: readonly Due[]): number | undefined {
  const times = deliveries.flatMap(({ nextAttemptAt }) =>
    nextAttemptAt === undefined ? [] : [Date.parse(nextAttemptAt)],
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

const EVERY_MS = 3000;

/**
 * Reads again every three seconds while something is about to happen that no stream tells of, such as a settlement or
 * the next attempt of a delivery. It is quiet while the page is hidden or the live switch is off.
 */
export function useRefreshWhile(isExpected: boolean, refresh: () => void): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    if (!isExpected) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden && !isLivePaused() && currentOutage() === undefined) latest.current();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [isExpected]);
}
