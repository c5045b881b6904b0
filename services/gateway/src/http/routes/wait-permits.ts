const PERMITS = 10_000;

/** Bounds the reads that wait for a change. A read without a permit is answered at once. */
export interface WaitPermits {
  tryAcquire(): boolean;
  release(): void;
}

export function openWaitPermits(permits = PERMITS): WaitPermits {
  let available = permits;
  return {
    tryAcquire: () => {
      if (available === 0) return false;
      available -= 1;
      return true;
    },
    release: () => {
      available += 1;
    },
  };
}
