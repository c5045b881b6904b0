import type { Quantities, UsageGroup } from '../../domain/usage.ts';

export interface UsageQuery {
  readonly accountId: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  /** Not part of the time. */
  readonly to: number;
  readonly groupBy: UsageGroup;
}

export interface UsageStore {
  /**
   * What was charged in the time, by price key, day (as its first millisecond) or token id. Undefined: so much was settled in the
   * part of an hour at an end of the time that it is not counted one by one.
   */
  sums(query: UsageQuery): Promise<ReadonlyMap<string, Quantities> | undefined>;
}
