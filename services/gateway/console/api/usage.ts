import type { Money } from './money.ts';

export type UsageSplit = 'model' | 'token' | 'label';

/** GET /usage. Query: `from`, `to` (dates), `split`. */
export interface UsageView {
  readonly currency: string;
  readonly from: number;
  readonly to: number;
  readonly split: UsageSplit;
  /** The days (UTC) as YYYY-MM-DD, without a gap. */
  readonly days: readonly string[];
  readonly series: readonly UsageSeries[];
  readonly total: UsageSums;
  /** The same number of days just before, undefined if the page does not compare. */
  readonly before?: UsageBefore;
  /** Undefined if the balance cannot be read or the page shows it elsewhere. */
  readonly budget?: Budget;
  /** True if there is more than fits. */
  readonly isTruncated: boolean;
}

export interface UsageBefore {
  readonly from: number;
  readonly to: number;
  readonly total: UsageSums;
  /** By the key of a series. A series without a charge is left out. */
  readonly amounts: Readonly<Record<string, string>>;
}

/** The money that is left and how long it lasts. */
export interface Budget {
  readonly free: Money;
  /** The mean of the last seven whole days. */
  readonly perDay: Money;
  /** The time at which the balance runs out at that pace, or undefined if it lasts for ten years. */
  readonly reachedAt?: number;
}

/** A model, a token or a label. What has no label is the series with the empty key. */
export interface UsageSeries {
  readonly key: string;
  readonly name: string;
  /** One for each day, in the order of `days`. */
  readonly amounts: readonly string[];
  readonly total: UsageSums;
}

export interface UsageSums {
  readonly amount: string;
  readonly requests: number;
  readonly seconds: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly images: number;
}
