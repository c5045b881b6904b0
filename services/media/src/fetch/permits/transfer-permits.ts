import type { Clock } from '@reelgate/platform/clock';
import { newActiveSet } from '@reelgate/platform/active-set';
import { toAddressKey } from '../addresses/address-policy.ts';
import { newAddressPermits } from './keyed-permits.ts';
import type { AddressGate, AddressPermits, KeyedPermits } from './keyed-permits.ts';
import { tooManyTransfers } from './fair-semaphore.ts';
import type { FairSemaphore, Release, Holder } from './fair-semaphore.ts';
import { addressIn, toHostKey } from '../addresses/fetch-target.ts';
import { newPermitWait } from './permit-wait.ts';
import type { Take } from './permit-wait.ts';
import { FetchFault } from '../../domain/fetch-fault.ts';

/** The permits that one transfer must hold while it runs. */
export interface TransferPermits extends TransferSpeed, AddressGate {
  /**
   * Waits for the permits to call a host. It releases the permits of the previous host first, so a waiting transfer
   * holds no permit that other transfers wait for. Rejects with a busy FetchFault when the wait takes too long.
   */
  enterHost(url: URL): Promise<void>;
}

export interface HeldPermits extends TransferPermits {
  /** Reports that the bytes have arrived. The transfer no longer yields. */
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

export function newTransferPermits(deps: TransferPermitsDeps, accountId: string): HeldPermits {
  const { clock, underWay, queueMs, total, narrow } = deps;
  const holder = newTransferHolder(accountId, underWay);
  const wait = newPermitWait({ clock, queueMs, signal: holder.signal });
  const addresses = narrow === undefined ? ANY_ADDRESS : newAddressPermits(narrow.addresses, holder, wait);
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
    measure: (speed) => holder.measure(speed),
    arrived: () => holder.arrived(),
    enterHost: async (url) => {
      const key = toHostKey(url);
      if (key === current) return;
      leaveHost();
      const isFirst = current === undefined;
      current = key;
      if (isFirst && narrow !== undefined) {
        await wait([(signal) => narrow.accounts.take(accountId, holder, signal)], (release) => toTheEnd.push(release));
      }
      // narrowest first, so a transfer that waits for a host holds no shared permit
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

interface TransferSpeed {
  /** Aborted with a busy FetchFault when the transfer has to yield, or when the service stops. */
  readonly signal: AbortSignal;
  /** Sets the function that measures the speed of the transfer. */
  measure(speed: () => number): void;
}

/** A transfer, from its first wait to its end. */
interface TransferHolder extends Holder, TransferSpeed {
  /** Reports that the bytes have arrived. The transfer no longer yields. */
  arrived(): void;
  /** Ends every wait of the transfer. */
  end(): void;
}

/** Created once: every transfer ends with it, and an error with a stack takes longer than the rest of the end. */
const ENDED = tooManyTransfers('it has ended');

export function newTransferHolder(accountId: string, underWay: TransfersUnderWay): TransferHolder {
  const ending = new AbortController();
  let speedOf = (): number => 0;
  let hasArrived = false;
  const leave = underWay.add(() =>
    ending.abort(new FetchFault('busy', 'could not be fetched now: the service is stopping; try again')),
  );
  return {
    accountId,
    signal: ending.signal,
    speed: () => speedOf(),
    mayYield: () => !hasArrived && !ending.signal.aborted,
    yield: () => ending.abort(tooManyTransfers('it yielded to another account')),
    measure: (speed) => {
      speedOf = speed;
    },
    arrived: () => {
      hasArrived = true;
    },
    end: () => {
      leave();
      ending.abort(ENDED);
    },
  };
}

/** The transfers that end when the service stops. */
interface TransfersUnderWay {
  /** Calls `stop` when the service stops, or immediately if it has stopped. The returned function leaves the set. */
  add(stop: () => void): () => void;
}

/** Registers one listener for all transfers, because a signal compares a new listener with all existing ones. */
export function transfersUnderWay(stopping: AbortSignal): TransfersUnderWay {
  const stops = newActiveSet<() => void>();
  stopping.addEventListener(
    'abort',
    () => {
      for (const stop of stops.all()) stop();
    },
    { once: true },
  );
  return {
    add: (stop) => {
      if (stopping.aborted) stop();
      return stops.add(stop);
    },
  };
}
