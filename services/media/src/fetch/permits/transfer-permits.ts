import type { Clock } from '@reelgate/platform/clock';
import { toAddressKey } from '../addresses/address-policy.ts';
import { openAddressPermits } from './address-permits.ts';
import type { AddressGate, AddressPermits } from './address-permits.ts';
import type { FairSemaphore, Release } from './fair-semaphore.ts';
import { addressIn, toHostKey } from '../addresses/fetch-target.ts';
import type { KeyedPermits } from './keyed-permits.ts';
import { openPermitWait } from './permit-wait.ts';
import type { Take } from './permit-wait.ts';
import { openTransferHolder } from './transfer-holder.ts';
import type { TransferSpeed } from './transfer-holder.ts';
import type { TransfersUnderWay } from './transfers-under-way.ts';

/** The permits that one transfer must hold while it runs. */
export interface TransferPermits extends TransferSpeed, AddressGate {
  /**
   * Waits for the permits to call a host. It releases the permits of the previous host first, so a waiting transfer
   * holds nothing that other transfers wait for. Rejects with a busy FetchFault when the wait takes too long.
   */
  enterHost(url: URL): Promise<void>;
}

export interface HeldPermits extends TransferPermits {
  /** Says that the bytes have arrived. The transfer no longer yields. */
  arrived(): void;
  release(): void;
}

export interface TransferPermitsDeps {
  readonly clock: Clock;
  readonly underWay: TransfersUnderWay;
  readonly queueMs: number;
  /** The permits over all hosts and accounts. */
  readonly total: FairSemaphore;
  /** Permits by account are held to the end. Permits by host name and address are held during the call to the host. */
  readonly narrow: Readonly<Record<'accounts' | 'names' | 'addresses', KeyedPermits>> | undefined;
}

export function openTransferPermits(deps: TransferPermitsDeps, accountId: string): HeldPermits {
  const { clock, underWay, queueMs, total, narrow } = deps;
  const holder = openTransferHolder(accountId, underWay);
  const wait = openPermitWait({ clock, queueMs, signal: holder.signal });
  const addresses = narrow === undefined ? ANY_ADDRESS : openAddressPermits(narrow.addresses, holder, wait);
  const toTheEnd: Release[] = [];
  const ofHost: Release[] = [];
  let current: string | undefined;

  const hostTakes = (url: URL): readonly Take[] => {
    if (narrow === undefined) return [];
    const address = addressIn(url);
    if (address === undefined) return [(signal) => narrow.names.take(toHostKey(url), holder, signal)];
    return [(signal) => narrow.addresses.take(toAddressKey(address), holder, signal)];
  };
  const leaveHost = (): void => {
    addresses.release();
    for (const release of ofHost.splice(0).toReversed()) release();
  };
  return {
    ...addresses,
    signal: holder.signal,
    measure: (speed) => {
      holder.measure(speed);
    },
    arrived: () => {
      holder.arrived();
    },
    enterHost: async (url) => {
      const key = toHostKey(url);
      if (key === current) return;
      leaveHost();
      const isFirst = current === undefined;
      current = key;
      if (isFirst && narrow !== undefined) {
        await wait([(signal) => narrow.accounts.take(accountId, holder, signal)], (release) => toTheEnd.push(release));
      }
      // narrowest first: a transfer that waits for a host holds no shared permit
      const takes = [...hostTakes(url), (signal: AbortSignal) => total.take(holder, signal)];
      await wait(takes, (release) => ofHost.push(release));
    },
    release: () => {
      holder.end();
      leaveHost();
      for (const release of toTheEnd.splice(0)) release();
    },
  };
}

const ANY_ADDRESS: AddressPermits = {
  admit: async (found) => found,
  reached: () => undefined,
  release: () => undefined,
};
