import { setTimeout as wait } from 'node:timers/promises';

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
  sleep: async (ms, signal) => {
    try {
      await wait(ms, undefined, signal === undefined ? {} : { signal });
    } catch {
      // An aborted wait is over; that is all the caller asked for.
    }
  },
};
