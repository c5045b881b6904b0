/** Where time comes from. Only this file and the tests' clock know another source. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after so many milliseconds, or at once when the signal is or becomes aborted; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Whether less than so many milliseconds have passed since a time. A clock that was set back makes it old, not recent for hours. */
export function isRecent(clock: Clock, at: number, ms: number): boolean {
  const age = clock.now() - at;
  return age >= 0 && age < ms;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // Most sleeps are deadlines that are given up: the promise of node:timers would make an error with its stack for each.
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const over = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', over);
        resolve();
      };
      const timer = setTimeout(over, ms);
      signal?.addEventListener('abort', over, { once: true });
    }),
};
