import type { Clock } from '@reelgate/platform/clock';

const WAITERS_MAX = 256;

/** Bounds the bytes of all bodies that are in memory at one time. */
export interface BodyBudget {
  /** Reserves the bytes if they fit; otherwise returns false. */
  tryReserve(bytes: number): boolean;
  /** Reserves the bytes as soon as they fit, first come first served; false after the wait limit or the signal. */
  reserve(bytes: number, signal: AbortSignal): Promise<boolean>;
  release(bytes: number): void;
}

export interface BodyBudgetOptions {
  readonly bytesMax: number;
  readonly clock: Clock;
  /** How long a body waits for free bytes. */
  readonly waitMsMax: number;
}

interface Waiter {
  readonly bytes: number;
  resolve(reserved: boolean): void;
}

export function openBodyBudget({ bytesMax, clock, waitMsMax }: BodyBudgetOptions): BodyBudget {
  const waiters: Waiter[] = [];
  let held = 0;
  const tryReserve = (bytes: number): boolean => {
    if (held + bytes > bytesMax) return false;
    held += bytes;
    return true;
  };
  const admit = (): void => {
    for (let [first] = waiters; first !== undefined && tryReserve(first.bytes); [first] = waiters) {
      waiters.shift();
      first.resolve(true);
    }
  };
  return {
    tryReserve,
    reserve: async (bytes, signal) => {
      if (waiters.length === 0 && tryReserve(bytes)) return true;
      if (waiters.length >= WAITERS_MAX || signal.aborted) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const waiter: Waiter = { bytes, resolve };
      waiters.push(waiter);
      const over = new AbortController();
      const leave = (): void => {
        const index = waiters.indexOf(waiter);
        if (index >= 0) waiters.splice(index, 1);
        resolve(false);
        // a smaller body behind this one may fit now
        admit();
      };
      signal.addEventListener('abort', leave, { once: true, signal: over.signal });
      void clock.sleep(waitMsMax, over.signal).then(() => {
        if (!over.signal.aborted) leave();
      });
      const reserved = await promise;
      over.abort();
      return reserved;
    },
    release: (bytes) => {
      held -= bytes;
      admit();
    },
  };
}
