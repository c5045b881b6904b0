import type { Clock } from '@reelgate/platform/clock';

/** The weight of past bytes halves in this time. */
const MEAN_LIFE_MS = 2000;

export interface RecentSpeed {
  received(bytes: number): void;
  /** Recent speed in bytes per second. */
  now(): number;
}

export function recentSpeed(clock: Clock): RecentSpeed {
  let at = clock.now();
  let bytes = 0;
  const fade = (): void => {
    const now = clock.now();
    bytes *= Math.exp(-Math.max(now - at, 0) / MEAN_LIFE_MS);
    at = now;
  };
  return {
    received: (more) => {
      fade();
      bytes += more;
    },
    now: () => {
      fade();
      return (bytes / MEAN_LIFE_MS) * 1000;
    },
  };
}
