import { newFairSemaphore } from './fair-semaphore.ts';
import type { FairSemaphore, FairSemaphoreOptions, Holder, Release } from './fair-semaphore.ts';

/** `permits` permits for each key. A key that no transfer uses takes no memory. */
export interface KeyedPermits {
  take(key: string, holder: Holder, signal: AbortSignal): Promise<Release>;
  tryTake(key: string, holder: Holder): Release | undefined;
}

export function newKeyedPermits(options: FairSemaphoreOptions): KeyedPermits {
  const byKey = new Map<string, FairSemaphore>();
  const of = (key: string): FairSemaphore => {
    const semaphore = byKey.get(key) ?? newFairSemaphore(options);
    byKey.set(key, semaphore);
    return semaphore;
  };
  const forget = (key: string): void => {
    if (byKey.get(key)?.idle() === true) byKey.delete(key);
  };
  const forgetting =
    (key: string, release: Release): Release =>
    () => {
      release();
      forget(key);
    };
  return {
    take: async (key, holder, signal) => {
      try {
        return forgetting(key, await of(key).take(holder, signal));
      } catch (error) {
        forget(key);
        throw error;
      }
    },
    tryTake: (key, holder) => {
      const release = of(key).tryTake(holder);
      return release === undefined ? undefined : forgetting(key, release);
    },
  };
}
