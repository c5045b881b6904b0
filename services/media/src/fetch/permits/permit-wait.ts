import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { tooManyTransfers } from './fair-semaphore.ts';
import type { Release } from './fair-semaphore.ts';

export type Take = (signal: AbortSignal) => Promise<Release>;

/** Takes one permit after another within `queueMs`. Rejects with a busy FetchFault when the time is over. */
export type PermitWait = (takes: readonly Take[], into: (release: Release) => void) => Promise<void>;

export interface PermitWaitDeps {
  readonly clock: Clock;
  /** The time for all permits of one wait. */
  readonly queueMs: number;
  /** Aborted when the transfer has ended or has to end. The wait then stops and keeps no permit. */
  readonly signal: AbortSignal;
}

export function newPermitWait({ clock, queueMs, signal }: PermitWaitDeps): PermitWait {
  return async (takes, into) => {
    const waited = new AbortController();
    const patience = new AbortController();
    void clock.sleep(queueMs, waited.signal).then(() => {
      // an abort after the wait would create an error with a stack for each transfer
      if (!waited.signal.aborted) patience.abort();
    });
    const either = AbortSignal.any([patience.signal, signal]);
    try {
      for (const take of takes) {
        const release = await take(either);
        into(release);
        if (!signal.aborted) continue;
        release();
        throw tooManyTransfers();
      }
    } finally {
      waited.abort(NOT_AWAITED);
    }
  };
}
