import { setTimeout as wait } from 'node:timers/promises';

/** Where time comes from. Only this file and the tests' clock know another source. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after so many milliseconds, or at once when the signal is or becomes aborted; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
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
