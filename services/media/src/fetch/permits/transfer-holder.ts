import { tooManyTransfers } from './fair-semaphore.ts';
import type { Holder } from './fair-semaphore.ts';
import { FetchFault } from '../../domain/fetch-fault.ts';
import type { TransfersUnderWay } from './transfers-under-way.ts';

export interface TransferSpeed {
  /** Aborted with a busy FetchFault when the transfer has to yield, or when the service stops. */
  readonly signal: AbortSignal;
  /** Sets the function that measures the speed of the transfer. */
  measure(speed: () => number): void;
}

/** One transfer, from its first wait to its end. */
export interface TransferHolder extends Holder, TransferSpeed {
  /** Says that the bytes have arrived. The transfer no longer yields. */
  arrived(): void;
  /** Ends every wait of the transfer. */
  end(): void;
}

/** Made once: every transfer ends with it, and an error with a stack takes longer than the rest of the end. */
const ENDED = tooManyTransfers('it has ended');

export function openTransferHolder(accountId: string, underWay: TransfersUnderWay): TransferHolder {
  const ending = new AbortController();
  let speedOf = (): number => 0;
  let hasArrived = false;
  const leave = underWay.add(() => {
    ending.abort(new FetchFault('busy', 'could not be fetched now: the service is stopping; try again'));
  });
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
      leave();
      ending.abort(ENDED);
    },
  };
}
