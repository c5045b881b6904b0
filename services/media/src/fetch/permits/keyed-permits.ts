import { newFairSemaphore } from './fair-semaphore.ts';
import type { FairSemaphore, FairSemaphoreOptions, Holder, Release } from './fair-semaphore.ts';
import { toAddressKey } from '../addresses/address-policy.ts';
import type { PermitWait } from './permit-wait.ts';

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

export interface AddressGate {
  /** Waits until at least one address of a name can be dialled. Returns the addresses that can be dialled. */
  admit<T extends { readonly address: string }>(found: readonly T[]): Promise<readonly T[]>;
  /** Reports the address that was reached, and releases the permits of the others. */
  reached(address: string): void;
}

/** The permits of one transfer to dial addresses, however many names lead to them. */
export interface AddressPermits extends AddressGate {
  release(): void;
}

export function newAddressPermits(addresses: KeyedPermits, holder: Holder, wait: PermitWait): AddressPermits {
  const taken = new Map<string, Release>();
  const leave = (except?: string): void => {
    for (const [key, release] of taken) {
      if (key === except) continue;
      taken.delete(key);
      release();
    }
  };
  return {
    admit: async (found) => {
      const keys = new Set(found.map(({ address }) => toAddressKey(address)));
      const [first] = keys;
      if (first === undefined) return found;
      leave();
      for (const key of keys) {
        const release = addresses.tryTake(key, holder);
        if (release !== undefined) taken.set(key, release);
      }
      // the transfer waits for one address alone, and holds no permit that other transfers wait for
      if (taken.size === 0) {
        await wait([(signal) => addresses.take(first, holder, signal)], (release) => taken.set(first, release));
      }
      return found.filter(({ address }) => taken.has(toAddressKey(address)));
    },
    reached: (address) => leave(toAddressKey(address)),
    release: leave,
  };
}
