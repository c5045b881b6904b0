import type { Clock } from '../sandbox-clock.ts';

/** A clock that only the test moves. The timers that fall due on the way run in order. */
export type ManualClock = Clock & { advance(ms: number): void };

type Timer = { readonly at: number; readonly run: () => void };

export function manualClock(start = Date.UTC(2026, 7, 1)): ManualClock {
  const timers = new Set<Timer>();
  let time = start;
  const nextDue = (until: number): Timer | undefined =>
    [...timers].filter((timer) => timer.at <= until).sort((one, other) => one.at - other.at)[0];
  return {
    now: () => time,
    after: (delayMs, run) => {
      const timer = { at: time + delayMs, run };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    advance: (ms) => {
      const until = time + ms;
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer);
        time = Math.max(time, timer.at);
        timer.run();
      }
      time = until;
    },
  };
}
