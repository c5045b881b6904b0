import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

/** A pass repeated until stopped. */
export interface Worker {
  /** Makes the next pass begin at once. */
  wake(): void;
  /** Lets a running pass end, then resolves; may be called twice. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds between passes that found nothing. */
  readonly idleMs: number;
  /** One pass; gives how much it did. More than nothing: the next one follows at once. */
  readonly pass: (signal: AbortSignal) => Promise<number>;
}

/** A database or a peer that was away is noticed so soon when it is back. */
const FAILURES_BACKOFF_MAX_MS = 5000;

export function startWorker({ name, clock, log, idleMs, pass }: WorkerOptions): Worker {
  const stopping = new AbortController();
  let nap = new AbortController();
  let woken = false;

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      woken = false;
      let did = 0;
      try {
        did = await pass(stopping.signal);
        failures = 0;
      } catch (error) {
        failures += 1;
        log.error({ worker: name, failures, err: error }, 'a pass failed');
      }
      if (did > 0 || woken) continue;
      nap = new AbortController();
      const backoff = Math.min(idleMs * 2 ** Math.min(failures, 10), Math.max(idleMs, FAILURES_BACKOFF_MAX_MS));
      await clock.sleep(backoff, AbortSignal.any([nap.signal, stopping.signal]));
    }
  };

  const running = run();
  return {
    wake: () => {
      woken = true;
      nap.abort();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
