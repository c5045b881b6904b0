import { tooManyTransfers } from './fair-semaphore.ts';
import type { Holder } from './fair-semaphore.ts';
import { FetchFault } from '../fetch-fault.ts';

/** One transfer, from its first wait to its end. */
export interface TransferHolder extends Holder {
  /** Aborted with a busy FetchFault when the transfer has to yield, or when the service stops. */
  readonly signal: AbortSignal;
  /** Sets the function that measures the speed of the transfer. */
  measure(speed: () => number): void;
  /** Says that the bytes have arrived. The transfer no longer yields. */
  arrived(): void;
  /** Ends every wait of the transfer. */
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
