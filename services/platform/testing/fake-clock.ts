import type { Clock } from '../src/clock.ts';

/** Rounds of the event loop in which resumed waits run. */
const ROUNDS = 5;
/** The longest wait for a disk. */
const DISK_MS_MAX = 60_000;
const DISK_WORK: ReadonlySet<string> = new Set(['FSReqPromise', 'FSReqCallback']);

/** A clock that moves only when the test advances it. */
export interface FakeClock extends Clock {
  /** Advances the time and runs every wait that ends by then, including its writes to the disk. */
  advance(ms: number): Promise<void>;
}

export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  let sleepers: { until: number; wake: () => void }[] = [];
  const settle = async (): Promise<void> => {
    const deadline = performance.now() + DISK_MS_MAX;
    for (let quiet = 0; quiet < ROUNDS; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (process.getActiveResourcesInfo().some((name) => DISK_WORK.has(name)) && performance.now() < deadline)
        quiet = -1;
    }
  };
  return {
    now: () => now,
    isShared: true,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true || ms <= 0) {
          resolve();
          return;
        }
        const sleeper = { until: now + ms, wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener(
          'abort',
          () => {
            sleepers = sleepers.filter((other) => other !== sleeper);
            resolve();
          },
          { once: true },
        );
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
