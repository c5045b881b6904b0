import type { Clock } from '../src/clock.ts';

/** A clock that moves when the test says so. */
export interface FakeClock extends Clock {
  /** Moves time on and lets everything that slept until then run. */
  advance(ms: number): Promise<void>;
}

export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  let sleepers: { until: number; wake: () => void }[] = [];
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    now: () => now,
    sleep: (ms, signal) => new Promise((resolve) => {
      if (signal?.aborted === true || ms <= 0) {
        resolve();
        return;
      }
      const sleeper = { until: now + ms, wake: resolve };
      sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        sleepers = sleepers.filter((other) => other !== sleeper);
        resolve();
      }, { once: true });
    }),
    advance: async (ms) => {
      now += ms;
      const due = sleepers.filter(({ until }) => until <= now);
      sleepers = sleepers.filter(({ until }) => until > now);
      for (const { wake } of due) wake();
      await settle();
    },
  };
}
