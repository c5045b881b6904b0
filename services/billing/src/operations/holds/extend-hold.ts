import type { Hold } from '../../domain/hold.ts';
import { computeLeastBound } from '../../domain/price-bound.ts';
import { computeAmount } from '../../domain/price.ts';
import type { PriceFacts } from '../../domain/price.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import { runAndCount } from '../../billing-metrics.ts';
import { badField, holdEnded, noPrice, priceAboveMax, unknownHold, holdVoided } from '../../billing-refusals.ts';
import type { NewPrice } from '../../store/holds/hold-store.ts';
import type { BillingDeps } from '../deps.ts';

/**
 * Computes the hold again from complete facts, under its frozen contract version, once. Refuses an amount above its
 * bound. A repeated call returns the hold as it stands.
 */
export async function extendHold(
  { holds, clock, measures, overrunFactor }: BillingDeps,
  taskId: string,
  facts: PriceFacts,
): Promise<Hold> {
  const { hold } = await runAndCount(
    measures.extension,
    async () => {
      const outcome = await holds.extend(taskId, clock.now(), (held, terms) =>
        reprice(held, terms, { facts, overrunFactor }),
      );
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

function reprice(
  { facts: { priceKey }, maxAmount, currency }: Hold,
  terms: PriceTerms,
  { facts, overrunFactor }: { readonly facts: PriceFacts; readonly overrunFactor: number },
): NewPrice {
  if (facts.priceKey !== priceKey) throw badField('facts.price_key', `must be ${priceKey}, the price key of the hold`);
  const amount = computeAmount(terms, facts);
  if (typeof amount === 'string') throw noPrice(amount);
  const leastBound = computeLeastBound({ amount, facts }, terms, overrunFactor);
  if (maxAmount !== undefined && leastBound > maxAmount)
    throw priceAboveMax({ amount, currency, leastBound, maxAmount });
  return { amount, facts };
}
