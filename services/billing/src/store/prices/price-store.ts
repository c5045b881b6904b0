import type { PriceContract as StoredContract } from '@reelgate/proto/billing/v1/price';
import type { PriceContract } from '../../domain/price.ts';
import type { TermsEntry } from '../../domain/price-terms.ts';

export interface PriceEntry {
  readonly key: string;
  readonly terms: TermsEntry;
}

export interface PriceStore {
  /**
   * Finds the contract that prices new orders. Returns undefined if no price is set. A change by another process is
   * seen within a second.
   */
  current(key: string): Promise<PriceContract | undefined>;
  /** The same for several keys, with few statements. A key without a contract is left out. */
  listCurrent(keys: readonly string[]): Promise<ReadonlyMap<string, PriceContract>>;
  /**
   * Replaces the current prices. A changed entry becomes a new version, and an unchanged entry keeps its version. A key
   * without an entry is no longer current. Old versions never change. Returns the number of new versions.
   */
  put(entries: readonly PriceEntry[], now: number): Promise<number>;
  /** Every version, by key and version. */
  list(): Promise<readonly StoredContract[]>;
}
