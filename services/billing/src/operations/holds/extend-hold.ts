import type { Hold } from '../../domain/hold.ts';
import { amountOf } from '../../domain/price.ts';
import type { PriceFacts } from '../../domain/price.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import { measured } from '../../billing-metrics.ts';
import { badField, endedHold, noPrice, unknownHold, voidedHold } from '../../billing-refusals.ts';
import type { Repricing } from '../../store/holds/hold-store.ts';
import type { BillingDeps } from '../deps.ts';

/**
 * Computes the hold again with complete facts, under its frozen contract version, once. A repeated call gives the hold
 * as it stands.
 */
export async function extendHold(
  { holds, clock, measures }: Pick<BillingDeps, 'holds' | 'clock' | 'measures'>,
  taskId: string,
  facts: PriceFacts,
): Promise<Hold> {
  const { hold } = await measured(
    measures.extension,
    async () => {
      const outcome = await holds.extend(taskId, clock.now(), (held, terms) => reprice(held, terms, facts));
      if (outcome === undefined) throw unknownHold();
      const { record, isNew } = outcome;
      if (record.state === 'void') throw voidedHold();
      if (record.state === 'ended') throw endedHold();
      return { hold: record.hold, isNew };
    },
    ({ isNew }) => (isNew ? 'extended' : 'repeated'),
  );
  return hold;
}

function reprice(hold: Hold, terms: PriceTerms, facts: PriceFacts): Repricing {
  const { priceKey } = hold.facts;
  if (facts.priceKey !== priceKey) throw badField('facts.price_key', `must be ${priceKey}, the price key of the hold`);
  const amount = amountOf(terms, facts);
  if (typeof amount === 'string') throw noPrice(amount);
  return { amount, facts };
}
