import type { ChargeBasis, Hold, ReportedUsage } from './hold.ts';
import type { Nanos } from './money.ts';
import { amountOf } from './price.ts';
import type { PriceTerms } from './price-terms.ts';
import { isEstimated, usedFacts } from './used-facts.ts';

/** What is to become of a hold. */
export type Ending =
  | { readonly kind: 'charge'; readonly amount: Nanos; readonly basis: ChargeBasis; readonly usage: ReportedUsage }
  | { readonly kind: 'release' }
  /** The amount is what usage would come to; undefined: more than an amount can be. */
  | { readonly kind: 'defer'; readonly amount: Nanos | undefined };

export interface SettlementRules {
  /** ReportedUsage up to this many times the hold is charged in full. */
  readonly overrunFactor: number;
  /** A person has decided: no bound. */
  readonly confirmed: boolean;
}

/**
 * The upstream's usage under the frozen contract; without it the frozen estimate; where its facts are unknown, the hold
 * as it stands.
 */
export function decideSettlement(hold: Hold, terms: PriceTerms, usage: ReportedUsage, rules: SettlementRules): Ending {
  const used = usedFacts(hold.facts, terms, usage);
  if (used === undefined)
    return { kind: 'charge', amount: hold.amount, basis: isEstimated(hold.facts, terms) ? 'estimate' : 'hold', usage };
  const amount = amountOf(terms, used);
  if (typeof amount === 'string') return { kind: 'defer', amount: undefined };
  if (!rules.confirmed && amount > BigInt(rules.overrunFactor) * hold.amount) return { kind: 'defer', amount };
  return { kind: 'charge', amount, basis: 'usage', usage };
}
