import type { Hold } from '../../domain/hold.ts';
import { computeAmount } from '../../domain/price.ts';
import type { PriceFacts } from '../../domain/price.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import { runAndCount } from '../../billing-metrics.ts';
import { badField, holdEnded, noPrice, unknownHold, holdVoided } from '../../billing-refusals.ts';
import type { NewPrice } from '../../store/holds/hold-store.ts';
import type { BillingDeps } from '../deps.ts';

/**
 * Computes the hold again with complete facts, under its frozen contract version, once. A repeated call gives the hold
 * as it stands.
 */
export async function extendHold(
  { holds, clock, measures }: BillingDeps,
  taskId: string,
  facts: PriceFacts,
): Promise<Hold> {
  const { hold } = await runAndCount(
    measures.extension,
    async () => {
      const outcome = await holds.extend(taskId, clock.now(), (held, terms) => reprice(held, terms, facts));
      if (outcome === undefined) throw unknownHold();
      const { record, isNew } = outcome;
      if (record.state === 'void') throw holdVoided();
      if (record.state === 'ended') throw holdEnded();
      return { hold: record.hold, isNew };
    },
    ({ isNew }) => (isNew ? 'extended' : 'repeated'),
  );
  return hold;
}

function reprice(hold: Hold, terms: PriceTerms, facts: PriceFacts): NewPrice {
  const { priceKey } = hold.facts;
  if (facts.priceKey !== priceKey) throw badField('facts.price_key', `must be ${priceKey}, the price key of the hold`);
  const amount = computeAmount(terms, facts);
  if (typeof amount === 'string') throw noPrice(amount);
  return { amount, facts };
}
