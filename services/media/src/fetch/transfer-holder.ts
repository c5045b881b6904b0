import { tooManyTransfers } from './fair-semaphore.ts';
import type { Holder } from './fair-semaphore.ts';
import { FetchFault } from './fetch-fault.ts';

/** One transfer, from its first wait to its end. */
export interface TransferHolder extends Holder {
  /** Aborted with a busy FetchFault when the transfer has to yield, or when the service stops. */
  readonly signal: AbortSignal;
  /** From where it can be learnt how fast the transfer is. */
  measure(speed: () => number): void;
  /** The bytes are here: from now on the transfer does not yield. */
  arrived(): void;
  /** Ends what it still waits for. */
  end(): void;
}

export function openTransferHolder(accountId: string, stopping: AbortSignal): TransferHolder {
  const ending = new AbortController();
  let speedOf = (): number => 0;
  let hasArrived = false;
  const stop = (): void => {
    ending.abort(new FetchFault('busy', 'could not be fetched now: the service is stopping; try again'));
  };
  stopping.addEventListener('abort', stop, { once: true });
  if (stopping.aborted) stop();
  return {
    accountId,
    signal: ending.signal,
    speed: () => speedOf(),
    mayYield: () => !hasArrived && !ending.signal.aborted,
    yield: () => {
      ending.abort(tooManyTransfers('it yielded to another account'));
    },
    measure: (speed) => {
      speedOf = speed;
    },
    arrived: () => {
      hasArrived = true;
    },
    end: () => {
      stopping.removeEventListener('abort', stop);
      ending.abort(tooManyTransfers('it has ended'));
    },
  };
}
