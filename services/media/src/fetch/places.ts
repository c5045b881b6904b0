import type { Clock } from '@reelgate/platform/clock';
import type { Release } from './slots.ts';

export type Take = (signal: AbortSignal) => Promise<Release>;

/** What one fetch holds while it runs. */
export interface Places {
  /**
   * Waits for a place at a host. Those of the host before are given back first: nobody waits for a host while holding what others wait
   * for. Rejects with a FetchFault when it takes too long.
   */
  enterHost(host: string): Promise<void>;
  release(): void;
}

export interface PlacesDeps {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** For all of those that are taken at once. */
  readonly queueMs: number;
  /** Held to the end. */
  readonly kept: readonly Take[];
  /** Held while this host is asked; the narrowest first, so that nobody holds a place of all while waiting for one of its own. */
  readonly ofHost: (host: string) => readonly Take[];
}

export function openPlaces({ clock, stopping, queueMs, kept, ofHost }: PlacesDeps): Places {
  const keptNow: Release[] = [];
  const atHost: Release[] = [];
  let current: string | undefined;

  const takeAll = async (takes: readonly Take[], into: Release[], signal: AbortSignal): Promise<void> => {
    for (const take of takes) into.push(await take(signal));
  };
  const giveBack = (releases: Release[]): void => {
    for (const release of releases.splice(0).toReversed()) release();
  };
  return {
    enterHost: async (host) => {
      if (host === current) return;
      giveBack(atHost);
      const patience = new AbortController();
      const waited = new AbortController();
      void clock.sleep(queueMs, waited.signal).then(() => {
        patience.abort();
      });
      const signal = AbortSignal.any([patience.signal, stopping]);
      try {
        if (current === undefined) await takeAll(kept, keptNow, signal);
        current = host;
        await takeAll(ofHost(host), atHost, signal);
      } finally {
        waited.abort();
      }
    },
    release: () => {
      giveBack(atHost);
      giveBack(keptNow);
    },
  };
}
