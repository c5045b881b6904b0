import type { Clock } from '@reelgate/platform/clock';
import { tooManyTransfers } from './fair-semaphore.ts';
import type { Release } from './fair-semaphore.ts';

export type Take = (signal: AbortSignal) => Promise<Release>;

/** Takes one permit after another, all within the time that a transfer may wait. Rejects with a busy FetchFault. */
export type PermitWait = (takes: readonly Take[], into: (release: Release) => void) => Promise<void>;

export interface PermitWaitDeps {
  readonly clock: Clock;
  /** For all that are taken at once. */
  readonly queueMs: number;
  /** Aborted when the transfer has ended, or must: it waits for nothing any more, and keeps nothing. */
  readonly signal: AbortSignal;
}

export function openPermitWait({ clock, queueMs, signal }: PermitWaitDeps): PermitWait {
  return async (takes, into) => {
    const waited = new AbortController();
    const patience = new AbortController();
    void clock.sleep(queueMs, waited.signal).then(() => {
      patience.abort();
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
      waited.abort();
    }
  };
}
