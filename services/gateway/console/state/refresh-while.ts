import { useEffect, useRef } from 'preact/hooks';
import { isLivePaused } from './live.ts';
import { currentOutage } from './outage.ts';

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
    return () => {
      clearInterval(timer);
    };
  }, [isExpected]);
}
