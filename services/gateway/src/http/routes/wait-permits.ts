const WAITING_MAX = 10_000;

/** The reads that are held until something changes; when it is full, a read is answered at once. */
export interface WaitPermits {
  tryAcquire(): boolean;
  release(): void;
}

export function openWaitPermits(max = WAITING_MAX): WaitPermits {
  let waiting = 0;
  return {
    tryAcquire: () => {
      if (waiting >= max) return false;
      waiting += 1;
      return true;
    },
    release: () => {
      waiting -= 1;
    },
  };
}
