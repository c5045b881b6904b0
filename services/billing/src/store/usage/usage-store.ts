import type { Quantities, UsageGroup } from '../../domain/usage.ts';
import type { ChargeBasis } from '../../domain/hold.ts';
import type { ReportedParts } from './quantity-rows.ts';

/** A place in the order of settlements: after the item with this id that was settled then. */
export interface ItemPlace {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly id: string;
}

/** A settled task, job or call. */
export interface ChargedItem extends ItemPlace, ReportedParts {
  readonly tokenId: string;
  readonly priceKey: string;
  /** The label of its request, empty if it has no label. */
  readonly label: string;
  readonly basis: ChargeBasis;
  readonly sum: Quantities;
}

export interface ItemQuery {
  readonly accountId: string;
  /** The page begins after this place. */
  readonly after: ItemPlace;
  /** Milliseconds since 1970, exclusive. */
  readonly to: number;
  /** The most items of the page. */
  readonly limit: number;
}

/** A range of time in milliseconds since 1970. */
export interface Period {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export interface UsageQuery {
  readonly accountId: string;
  readonly groupBy: UsageGroup;
  /** Splits each group once more. Undefined if groups are not split. */
  readonly splitBy?: UsageGroup | undefined;
}

export interface UsageSum {
  /**
   * The price key, the day (as its first millisecond), the token id, or the label, which is empty for work without a
   * label.
   */
  readonly group: string;
  /** The same of the split. Empty if the group is not split. */
  readonly split: string;
  readonly sum: Quantities;
}

export interface UsageStore {
  /**
   * Sums the charges in the range. Returns undefined if the partial hours at the ends of the range have too many
   * settlements to be counted one by one.
   */
  sums(query: UsageQuery, period: Period): Promise<readonly UsageSum[] | undefined>;
  /** The last hour since a whole one in which each token of the account was charged, by token id. */
  lastHours(accountId: string, since: number): Promise<ReadonlyMap<string, number>>;
  /** A page of the settled tasks, jobs and calls of the account, the oldest settlement first. */
  items(query: ItemQuery): Promise<readonly ChargedItem[]>;
}
