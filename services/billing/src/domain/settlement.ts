import type { ChargeBasis, Hold, ReportedUsage } from './hold.ts';
import type { Nanos } from './money.ts';
import { computeAmount } from './price.ts';
import type { PriceTerms } from './price-terms.ts';
import { isEstimated, applyUsage } from './apply-usage.ts';
import type { UpstreamCost } from './margin.ts';

/** The decision on a hold. */
export type HoldDecision =
  | { readonly kind: 'charge'; readonly amount: Nanos; readonly basis: ChargeBasis; readonly usage: ReportedUsage }
  | { readonly kind: 'release' }
  /** The charge if a person confirms it, within the bound. Undefined if it exceeds the largest amount. */
  | { readonly kind: 'defer'; readonly amount: Nanos | undefined };

/** The decision on a hold, with the cost of the work at its upstream. A deferred end has no cost yet. */
export type CostedDecision = HoldDecision & { readonly cost?: UpstreamCost | undefined };

export interface SettlementRules {
  /** Usage up to this many times the hold is charged in full. */
  readonly overrunFactor: number;
  /** An operator has confirmed the charge: there is no bound. */
  readonly confirmed: boolean;
}

/**
 * Charges the reported usage under the frozen contract, at most the bound of the hold. Without usage it charges the
 * frozen estimate. If facts of the estimate are unknown, it charges the hold.
 */
export function decideSettlement(
  hold: Hold,
  terms: PriceTerms,
  usage: ReportedUsage,
  rules: SettlementRules,
): HoldDecision {
  const used = applyUsage(hold.facts, terms, usage);
  if (used === undefined)
    return { kind: 'charge', amount: hold.amount, basis: isEstimated(hold.facts, terms) ? 'estimate' : 'hold', usage };
  const price = computeAmount(terms, used);
  const wanted = typeof price === 'string' ? undefined : price;
  const amount = atMost(wanted, hold.maxAmount);
  if (amount === undefined) return { kind: 'defer', amount };
  const isFarAbove = wanted === undefined || wanted > BigInt(rules.overrunFactor) * hold.amount;
  if (!rules.confirmed && isFarAbove) return { kind: 'defer', amount };
  return { kind: 'charge', amount, basis: 'usage', usage };
}

/** Undefined if it exceeds the largest amount and has no bound. */
function atMost(wanted: Nanos | undefined, bound: Nanos | undefined): Nanos | undefined {
  if (wanted === undefined || bound === undefined) return wanted ?? bound;
  return wanted < bound ? wanted : bound;
}
