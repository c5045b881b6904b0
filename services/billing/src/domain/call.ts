import type { ChargeBasis, Payer, ReportedUsage, Settlement } from './hold.ts';
import { AMOUNT_NANOS_MAX } from './money.ts';
import type { Nanos } from './money.ts';
import { computeAmount } from './price.ts';
import type { PriceFacts } from './price.ts';
import type { PriceTerms } from './price-terms.ts';
import { isEstimated, applyUsage } from './apply-usage.ts';
import type { SourcedCost } from './margin.ts';

/** The most calls of one batch, which the rules of the contract bound. */
const BATCH_CALLS_MAX = 1000;
/** The most that one call can hold or be charged, so that the sum of a batch stays within the bound of one amount. */
export const CALL_NANOS_MAX: Nanos = AMOUNT_NANOS_MAX / BigInt(BATCH_CALLS_MAX);

/**
 * One call of a synchronous route and its hold. It never changes once it is placed. Times are milliseconds since 1970.
 */
export interface Call extends Payer {
  readonly id: string;
  readonly amount: Nanos;
  /** The client's word under which the charge is counted; undefined if the client gave no word. */
  readonly label?: string | undefined;
  /** The frozen version of the contract under `facts.priceKey`. */
  readonly priceVersion: number;
  /** The upper bound of the usage, as far as the request gives it. */
  readonly facts: PriceFacts;
  readonly placedAt: number;
  /** An open call is charged its hold from then on. */
  readonly lapsesAt: number;
}

/** The end of a call: with reported usage, with estimated usage, or with neither. */
export type CallEnd = (
  { readonly basis: 'usage' | 'estimate'; readonly usage: ReportedUsage } | { readonly basis: 'hold' | 'released' }
) & {
  /**
   * The channel that did the work, undefined if no channel did it or if it is not known. It does not change the charge.
   */
  readonly channel?: string | undefined;
};

export interface CallCharge {
  readonly amount: Nanos;
  readonly basis: ChargeBasis | 'released';
  /** The part of the usage's amount that was not charged. */
  readonly uncharged: Nanos;
  readonly usage: ReportedUsage | undefined;
}

/** A charge with the cost of the call at its upstream. The cost is undefined if it is not known. */
export interface CostedCharge extends CallCharge {
  readonly cost?: SourcedCost | undefined;
}

/** A call and its settlement, which is undefined while the call is open. */
export interface CallRecord {
  readonly call: Call;
  readonly settlement: Settlement | undefined;
}

/**
 * Computes the charge of a call. Reported usage is charged up to `overrunFactor` times the hold, an estimate up to the
 * hold. If no quantity that the contract prices was reported, the hold is charged.
 */
export function decideCall(
  { facts, amount: held }: Call,
  terms: PriceTerms,
  end: CallEnd,
  overrunFactor: number,
): CallCharge {
  if (end.basis === 'released') return { amount: 0n, basis: 'released', uncharged: 0n, usage: undefined };
  const standing: CallCharge = { amount: held, basis: 'hold', uncharged: 0n, usage: undefined };
  if (!('usage' in end)) return standing;
  const { basis, usage } = end;
  const used = applyUsage(facts, terms, usage);
  if (used === undefined) return { ...standing, basis: isEstimated(facts, terms) ? 'estimate' : 'hold', usage };
  const priced = computeAmount(terms, used);
  const wanted = typeof priced === 'string' ? AMOUNT_NANOS_MAX : priced;
  const most = minAmount(basis === 'estimate' ? held : BigInt(overrunFactor) * held, CALL_NANOS_MAX);
  const amount = minAmount(wanted, most);
  return { amount, basis, uncharged: wanted - amount, usage };
}

function minAmount(left: Nanos, right: Nanos): Nanos {
  return left < right ? left : right;
}
