import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { Verdict } from '../domain/sliding-window.ts';

/** A counter and the most requests of a minute that it counts. */
export interface RateBound {
  readonly key: string;
  readonly limit: number;
}

/** Counts the requests of the last minute. */
export interface RateCounters {
  /**
   * Counts a request under the key and under the keys of the tokens above it, if it is within all limits. A refused
   * request is not counted.
   */
  take(key: string, limit: number, makers?: readonly RateBound[]): MaybePromise<Verdict>;
  close(): Promise<void>;
}
