import type { Clock } from '../clock.ts';

const MINUTE_MS = 60_000;

/** So many a minute, and so many at once at most. */
export interface Rate {
  take(): boolean;
  /** How many are free now. */
  left(): number;
  /** Milliseconds until one more is free. */
  waitMs(): number;
}

/** Where nothing else is said, the whole minute's share may be taken at once. */
export function newRate(clock: Clock, perMinute: number, burst = perMinute): Rate {
  let free = burst;
  let filledAt = clock.now();
  const fill = (): void => {
    const now = clock.now();
    // A clock that was set back fills nothing and takes nothing away.
    free = Math.min(burst, free + (Math.max(0, now - filledAt) * perMinute) / MINUTE_MS);
    filledAt = now;
  };
  return {
    take: () => {
      fill();
      if (free < 1) return false;
      free -= 1;
      return true;
    },
    left: () => {
      fill();
      return Math.floor(free);
    },
    waitMs: () => {
      fill();
      return free >= 1 ? 0 : Math.ceil(((1 - free) * MINUTE_MS) / perMinute);
    },
  };
}
