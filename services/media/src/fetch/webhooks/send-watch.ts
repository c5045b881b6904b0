import type { Clock } from '@reelgate/platform/clock';
import { FetchFault } from '../../domain/fetch-fault.ts';

/** One timer serves all requests, so a request ends up to this long after its time. */
const TICK_MS = 50;
/**
 * The maximum number of bytes that a receiver can send for one answer, below any protocol: headers, hints, frames and
 * body.
 */
const EXCHANGE_BYTES_MAX = 1024 * 1024;

export interface WatchedSend {
  readonly endsAt: number;
  /** The bytes that have come so far. */
  bytes(): number;
  /** Ends the request. It is called once at most. */
  end(fault: FetchFault): void;
}

/**
 * Ends requests that exceed their time, or receive too much from their receiver, and all requests when the service
 * stops.
 */
export interface SendWatch {
  /** The returned function ends the watch over this request. */
  add(send: WatchedSend): () => void;
}

export function newSendWatch(clock: Clock, stopping: AbortSignal): SendWatch {
  const sends = new Set<WatchedSend>();
  let isRunning = false;
  const endWhere = (findFault: (send: WatchedSend) => FetchFault | undefined): void => {
    for (const send of sends) {
      const fault = findFault(send);
      if (fault === undefined) continue;
      sends.delete(send);
      send.end(fault);
    }
  };
  const run = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    while (sends.size > 0 && !stopping.aborted) {
      await clock.sleep(TICK_MS, stopping);
      const now = clock.now();
      endWhere((send) => {
        if (now >= send.endsAt) return timeoutFault();
        return send.bytes() > EXCHANGE_BYTES_MAX ? oversizeFault() : undefined;
      });
    }
    isRunning = false;
  };
  stopping.addEventListener('abort', () => endWhere(stoppingFault), { once: true });
  return {
    add: (send) => {
      sends.add(send);
      void run();
      return () => {
        sends.delete(send);
      };
    },
  };
}

const timeoutFault = (): FetchFault => new FetchFault('slow', 'its time is over');
const oversizeFault = (): FetchFault => new FetchFault('too_large', 'its answer has too many bytes');
const stoppingFault = (): FetchFault => new FetchFault('busy', 'the service is stopping');
