export type MarginSplit = 'channel' | 'model' | 'account';

/** GET /money/margins. Query: `from`, `to` (dates), `split`, `key` (one group alone), `format` (`json` or `csv`). */
export interface MarginsView {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly split: MarginSplit;
  /** The one group that was asked for; absent: all. */
  readonly key?: string;
  readonly bucket: 'hour' | 'day';
  /** The begins of the hours or days of the period, without a gap. */
  readonly parts: readonly number[];
  /** One for each currency. They are never added up. */
  readonly currencies: readonly CurrencyMargins[];
  readonly now: number;
}

export interface CurrencyMargins {
  /** ISO 4217 code. */
  readonly currency: string;
  /** The largest first; all that are not named are the last. */
  readonly groups: readonly MarginGroup[];
  readonly total: MarginSums;
  /** The sums of all groups, one for each part of the period. */
  readonly byPart: readonly MarginSums[];
}

export interface MarginGroup {
  /** The channel, the model or the account; empty: a channel that is not known, or the rest. */
  readonly key: string;
  /** True if these are all groups that are not named. */
  readonly isRest: boolean;
  readonly total: MarginSums;
  /** The margins, one for each part of the period. */
  readonly measured: readonly string[];
  readonly estimated: readonly string[];
}

/** Amounts are decimals in units of the currency. */
export interface MarginSums {
  /** Work whose cost the upstreams reported. */
  readonly measured: MarginPart;
  /** Work whose cost is estimated by the upstream prices of the configuration. */
  readonly estimated: MarginPart;
  /** Charged work whose cost is not known. It is in no margin. */
  readonly unknown: { readonly requests: number; readonly charged: string };
  /** The charge for work with a known cost. */
  readonly charged: string;
  readonly margin: string;
  /** All work. */
  readonly requests: number;
}

export interface MarginPart {
  readonly requests: number;
  readonly charged: string;
  readonly cost: string;
  readonly margin: string;
}
