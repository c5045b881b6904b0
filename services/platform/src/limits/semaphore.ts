/** The queue of a semaphore has no room for another caller. */
export class SemaphoreFull extends Error {
  override readonly name = 'SemaphoreFull';

  constructor() {
    super('too many callers wait for a permit');
  }
}

export interface SemaphoreOptions {
  /** The maximum number of permits in use. */
  readonly permits: number;
  /** The maximum number of waiting callers. */
  readonly waitingMax: number;
}

export interface AcquireOptions {
  /**
   * The number of permits that are taken together, by default 1. A call for more than there are is refused immediately.
   */
  readonly count?: number;
  /** A waiting caller leaves the queue when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Bounds concurrent work or held resources. A caller releases as many permits as it has taken. */
export interface Semaphore {
  /** Takes permits if they are free now, even while other callers wait. */
  tryAcquire(count?: number): boolean;
  /** Waits for permits, in the order of arrival. Rejects with SemaphoreFull, or with the reason of the signal. */
  acquire(options?: AcquireOptions): Promise<void>;
  release(count?: number): void;
  /** Runs the work with one permit. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  inUse(): number;
  waiting(): number;
}

interface Waiter {
  readonly count: number;
  grant(): void;
}

export function newSemaphore({ permits, waitingMax }: SemaphoreOptions): Semaphore {
  const queue: Waiter[] = [];
  let inUse = 0;
  const tryAcquire = (count = 1): boolean => {
    if (inUse + count > permits) return false;
    inUse += count;
    return true;
  };
  /** The first in the queue keeps later, smaller callers waiting: a large one would otherwise wait forever. */
  const grantWaiting = (): void => {
    for (let [first] = queue; first !== undefined && tryAcquire(first.count); [first] = queue) {
      queue.shift();
      first.grant();
    }
  };
  const wait = (count: number, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(signal?.reason as Error);
        grantWaiting();
      };
      const waiter: Waiter = {
        count,
        grant: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      queue.push(waiter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  const acquire = async ({ count = 1, signal }: AcquireOptions = {}): Promise<void> => {
    signal?.throwIfAborted();
    if (queue.length === 0 && tryAcquire(count)) return;
    // it could never be granted, and would keep all later callers waiting
    if (count > permits || queue.length >= waitingMax) throw new SemaphoreFull();
    await wait(count, signal);
  };
  const release = (count = 1): void => {
    if (count > inUse) throw new Error(`${count} permits were released, but only ${inUse} are in use`);
    inUse -= count;
    grantWaiting();
  };
  return {
    tryAcquire,
    acquire,
    release,
    run: async (work, signal) => {
      await acquire({ signal });
      try {
        return await work();
      } finally {
        release();
      }
    },
    inUse: () => inUse,
    waiting: () => queue.length,
  };
}
