import type { Quantities, UsageGroup } from '../../domain/usage.ts';

export interface UsageQuery {
  readonly accountId: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly groupBy: UsageGroup;
}

export interface UsageStore {
  /**
   * The charges in the range, by price key, day (as its first millisecond) or token id. Undefined: the partial hours at
   * the ends of the range have too many settlements to be counted one by one.
   */
  sums(query: UsageQuery): Promise<ReadonlyMap<string, Quantities> | undefined>;
}
