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
   * Counts a request under the key, and under those of the makers of its token, if it is within all of the limits.
   * A refused request is not counted under any.
   */
  take(key: string, limit: number, makers?: readonly RateBound[]): MaybePromise<Verdict>;
  close(): Promise<void>;
}
