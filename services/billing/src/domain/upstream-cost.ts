import type { ReportedUsage } from './hold.ts';
import type { Nanos } from './money.ts';
import { computeAmount } from './price.ts';
import type { PriceFacts, PriceFault } from './price.ts';
import type { PriceTerms } from './price-terms.ts';
import { applyUsage } from './apply-usage.ts';

/**
 * The prices that each channel pays its upstream: the terms by channel and price key. A key without terms has no
 * known cost.
 */
export type UpstreamPrices = ReadonlyMap<string, ReadonlyMap<string, PriceTerms>>;

/** The estimated cost of charged work. Like a charge, it is by the reported usage, or by the frozen facts. */
export function computeUpstreamCost(terms: PriceTerms, facts: PriceFacts, usage: ReportedUsage): Nanos | PriceFault {
  return computeAmount(terms, applyUsage(facts, terms, usage) ?? facts);
}
