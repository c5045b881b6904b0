import { isEstimated } from './apply-usage.ts';
import type { Nanos } from './money.ts';
import type { PriceFacts } from './price.ts';
import type { PriceTerms } from './price-terms.ts';

/** A hold before it is placed, or after it is priced again. */
export interface PricedHold {
  readonly amount: Nanos;
  readonly facts: PriceFacts;
}

/**
 * The least bound that a hold fits. If every priced quantity is known, the bound is the amount, because usage above the
 * ordered quantities is charged up to the bound. If the tokens or the seconds are known only afterwards, the largest
 * charge that needs no operator must fit.
 */
export function computeLeastBound({ amount, facts }: PricedHold, terms: PriceTerms, overrunFactor: number): Nanos {
  return isEstimated(facts, terms) ? amount : BigInt(overrunFactor) * amount;
}
