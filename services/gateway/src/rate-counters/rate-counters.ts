import type { Verdict } from '../domain/sliding-window.ts';

/** Counts requests of the last minute. */
export interface RateCounters {
  /** Counts one under the key if it fits under the limit; a refused one is not counted. */
  take(key: string, limit: number): Promise<Verdict>;
  close(): Promise<void>;
}
