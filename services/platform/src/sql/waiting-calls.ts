import { systemClock } from '../clock.ts';

/** The calls that wait for a connection. */
export interface WaitingCalls {
  /** Counts a call as waiting until the work has ended. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Returns the milliseconds that the first of them has waited; 0 if none waits. */
  firstWaited(): number;
}

export function openWaitingCalls(): WaitingCalls {
  const calls = new Set<{ readonly since: number }>();
  return {
    during: async (work) => {
      const call = { since: systemClock.now() };
      calls.add(call);
      try {
        return await work();
      } finally {
        calls.delete(call);
      }
    },
    firstWaited: () => {
      // a set keeps the order of its additions
      const [first] = calls;
      return first === undefined ? 0 : Math.max(0, systemClock.now() - first.since);
    },
  };
}
