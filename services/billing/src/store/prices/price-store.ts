import type { PriceContract } from '../../domain/price.ts';
import type { TermsEntry } from '../../domain/price-terms.ts';

export interface PriceEntry {
  readonly key: string;
  readonly terms: TermsEntry;
}

/** A version as it is kept, with its terms as they stood in the configuration. */
export interface StoredContract extends PriceEntry {
  readonly version: number;
  readonly since: number;
  readonly isCurrent: boolean;
}

export interface PriceStore {
  /** What today's orders are priced by; undefined when no price is set. A change by another process is seen within a second. */
  current(key: string): Promise<PriceContract | undefined>;
  /**
   * Makes these the prices of today: a changed entry becomes a new version, an unchanged one stays, and what is not among them is no
   * longer current. History is never touched. Gives how many versions were made.
   */
  put(entries: readonly PriceEntry[], now: number): Promise<number>;
  /** Every version, by key and version. */
  list(): Promise<readonly StoredContract[]>;
}
