import type { Soon } from '@reelgate/platform/soon';
import type { Verdict } from '../domain/sliding-window.ts';

/** Counts the requests of the last minute. */
export interface RateCounters {
  /** Counts a request under the key if it is within the limit. A refused request is not counted. */
  take(key: string, limit: number): Soon<Verdict>;
  close(): Promise<void>;
}
