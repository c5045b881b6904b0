import type { Nanos } from '../../domain/money.ts';
import { computeAmount } from '../../domain/price.ts';
import type { PriceFacts } from '../../domain/price.ts';
import { noPrice, unknownAccount } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

export interface Quote {
  readonly amount: Nanos;
  readonly currency: string;
  readonly contract: string;
  readonly version: number;
}

/** The amount of the facts under the current contract, or a refusal. Moves no money. */
export async function quotePrice(deps: BillingDeps, accountId: string, facts: PriceFacts): Promise<Quote> {
  const [currency, contract] = await Promise.all([
    deps.accounts.findCurrency(accountId),
    deps.prices.current(facts.priceKey),
  ]);
  if (currency === undefined) throw unknownAccount('account_id');
  if (contract === undefined) throw noPrice('no_contract');
  const amount = computeAmount(contract.terms, facts);
  if (typeof amount === 'string') throw noPrice(amount);
  return { amount, currency, contract: contract.key, version: contract.version };
}
