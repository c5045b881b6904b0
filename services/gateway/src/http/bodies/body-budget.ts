import type { Clock } from '@reelgate/platform/clock';
import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import type { Semaphore } from '@reelgate/platform/limits/semaphore';

const WAITERS_MAX = 256;

/** Bounds the bytes of all bodies that are in memory at once. */
export interface BodyBudget {
  /** Reserves the bytes if they fit; otherwise returns false. */
  tryReserve(bytes: number): boolean;
  /** Reserves the bytes as soon as they fit, first come first served; false after the wait limit or the signal. */
  reserve(bytes: number, signal: AbortSignal): Promise<boolean>;
  release(bytes: number): void;
  /** The bytes that are reserved now, and the most that there can be. */
  state(): { readonly used: number; readonly limit: number };
}

export interface BodyBudgetOptions {
  readonly bytesMax: number;
  readonly clock: Clock;
  /** Maximum wait of a body for free bytes in milliseconds. */
  readonly waitMsMax: number;
}

/** A semaphore with one permit for each byte. */
export function openBodyBudget({ bytesMax, clock, waitMsMax }: BodyBudgetOptions): BodyBudget {
  const permits = newSemaphore({ permits: bytesMax, waitingMax: WAITERS_MAX });
  return {
    tryReserve: (bytes) => permits.tryAcquire(bytes),
    // without waiting bodies, no timer is needed
    reserve: async (bytes, signal) =>
      (!signal.aborted && permits.waiting() === 0 && permits.tryAcquire(bytes)) ||
      waitForBytes(permits, bytes, { signal, clock, waitMsMax }),
    release: (bytes) => {
      permits.release(bytes);
    },
    state: () => ({ used: permits.inUse(), limit: bytesMax }),
  };
}

async function waitForBytes(
  permits: Semaphore,
  bytes: number,
  { signal, clock, waitMsMax }: { signal: AbortSignal; clock: Clock; waitMsMax: number },
): Promise<boolean> {
  const [late, over] = [new AbortController(), new AbortController()];
  void clock.sleep(waitMsMax, over.signal).then(() => {
    late.abort();
  });
  try {
    await permits.acquire({ count: bytes, signal: AbortSignal.any([signal, late.signal]) });
    return true;
  } catch {
    return false;
  } finally {
    over.abort();
  }
}
