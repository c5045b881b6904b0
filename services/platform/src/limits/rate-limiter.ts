import type { Clock } from '../clock.ts';

const MINUTE_MS = 60_000;

/** A token bucket: a rate per minute and a maximum at once. */
export interface Rate {
  take(): boolean;
  /** The number that is free now. */
  left(): number;
  /** Milliseconds until the next one is free. */
  waitMs(): number;
}

/** By default, the whole rate of a minute can be taken at once. */
export function newRate(clock: Clock, perMinute: number, burst = perMinute): Rate {
  return newVaryingRate(clock, () => ({ perMinute, burst }));
}

/** The same with limits that change while it is used, such as the share of one replica. */
export function newVaryingRate(
  clock: Clock,
  limits: () => { readonly perMinute: number; readonly burst: number },
): Rate {
  let free = limits().burst;
  let filledAt = clock.now();
  const fill = (): number => {
    const { perMinute, burst } = limits();
    const now = clock.now();
    // a clock that was set back changes nothing
    free = Math.min(burst, free + (Math.max(0, now - filledAt) * perMinute) / MINUTE_MS);
    filledAt = now;
    return perMinute;
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
      const perMinute = fill();
      return free >= 1 ? 0 : Math.ceil(((1 - free) * MINUTE_MS) / perMinute);
    },
  };
}
