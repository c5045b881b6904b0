/** GET /usage. Query: `from`, `to` (dates), `split` (`model` or `token`). */
export interface UsageView {
  readonly currency: string;
  readonly from: number;
  readonly to: number;
  readonly split: 'model' | 'token';
  /** The days (UTC) as YYYY-MM-DD, without a gap. */
  readonly days: readonly string[];
  readonly series: readonly UsageSeries[];
  readonly total: UsageSums;
  /** True if there is more than fits. */
  readonly isTruncated: boolean;
}

/** A model or a token. */
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
