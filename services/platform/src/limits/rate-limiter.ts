import type { Clock } from '../clock.ts';

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;
const SECONDS_PER_MINUTE = 60;

/** A bound of calls over time. */
export interface Rate {
  take(): boolean;
  /** The number that is free now. */
  left(): number;
  /** Milliseconds until the next one is free. */
  waitMs(): number;
}

/** A token bucket: a rate per minute and a maximum at once. By default, the rate of a minute can be taken at once. */
export function newRate(clock: Clock, perMinute: number, burst = perMinute): Rate {
  let free = burst;
  let filledAt = clock.now();
  const fill = (): number => {
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

export interface EvenRateOptions {
  readonly clock: Clock;
  /** It may change while the rate is used, such as the share of one replica. */
  readonly perMinute: () => number;
  /** The time at the start in which nothing is free, because another process may just have taken. Default: none. */
  readonly restMs?: number;
}

/**
 * A rate that is kept in every second, whenever it begins: a second has at most a sixtieth of the minute, rounded up. So the
 * rate begins as it goes on, and a pause saves nothing up.
 */
export function newEvenRate({ clock, perMinute, restMs = 0 }: EvenRateOptions): Rate {
  const startedAt = clock.now();
  /** The times of the takes that still count, the oldest first. */
  const takes: number[] = [];
  const read = () => {
    const perSecond = perMinute() / SECONDS_PER_MINUTE;
    const most = Math.max(1, Math.ceil(perSecond));
    const windowMs = (most * SECOND_MS) / perSecond;
    const now = clock.now();
    // a take in the future is one from before the clock was set back
    while (takes.length > 0 && !((takes[0] ?? 0) > now - windowMs && (takes[0] ?? 0) <= now)) takes.shift();
    return { now, most, windowMs };
  };
  // a clock that was set back does not prolong it
  const countRest = (now: number): number => (now < startedAt ? 0 : Math.max(0, startedAt + restMs - now));
  const left = (): number => {
    const { now, most } = read();
    return countRest(now) > 0 ? 0 : Math.max(0, most - takes.length);
  };
  return {
    left,
    take: () => {
      if (left() === 0) return false;
      takes.push(clock.now());
      return true;
    },
    waitMs: () => {
      const { now, most, windowMs } = read();
      const freedBy = takes[takes.length - most];
      return Math.max(countRest(now), freedBy === undefined ? 0 : Math.ceil(freedBy + windowMs - now));
    },
  };
}
