import type { Nanos } from '../domain/money.ts';
import { amountOf } from '../domain/price.ts';
import type { PriceFacts } from '../domain/price.ts';
import { noPrice } from '../refusals.ts';
import type { BillingDeps } from './deps.ts';
import { findAccount } from './find-account.ts';

export interface Quote {
  readonly amount: Nanos;
  readonly currency: string;
  readonly contract: string;
  readonly version: number;
}

/** The amount of the facts under today's contract; refuses where there is none. Moves nothing. */
export async function quotePrice(deps: Pick<BillingDeps, 'accounts' | 'prices'>, accountId: string, facts: PriceFacts): Promise<Quote> {
  const [account, contract] = await Promise.all([findAccount(deps, accountId, 'account_id'), deps.prices.current(facts.priceKey)]);
  if (contract === undefined) throw noPrice('no_contract');
  const amount = amountOf(contract.terms, facts);
  if (typeof amount === 'string') throw noPrice(amount);
  return { amount, currency: account.currency, contract: contract.key, version: contract.version };
}
