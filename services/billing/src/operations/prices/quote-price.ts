import type { Nanos } from '../../domain/money.ts';
import { computeLeastBound } from '../../domain/price-bound.ts';
import { toChoiceKey, toClassKey } from '../../domain/price-class.ts';
import type { PriceClass } from '../../domain/price-class.ts';
import { computeAmount } from '../../domain/price.ts';
import type { PriceContract, PriceFacts } from '../../domain/price.ts';
import { badField, noPrice, unknownAccount } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

/** The work that is priced. */
export interface PricedWork {
  readonly accountId: string;
  readonly facts: PriceFacts;
  /** The class in which it waits, undefined if it has no class. */
  readonly priceClass?: PriceClass | undefined;
  /** The choices of the order that can have a price of their own. */
  readonly choices?: readonly string[] | undefined;
  /** The currency that its account must have, undefined for any currency. */
  readonly currency?: string | undefined;
}

export interface Quote {
  readonly amount: Nanos;
  readonly currency: string;
  readonly contract: string;
  readonly version: number;
  /** The least bound that a hold for the work fits. Undefined for a call, which has no bound. */
  readonly leastBound?: Nanos | undefined;
}

export interface BoundQuote extends Quote {
  readonly leastBound: Nanos;
}

/** The amount of the work under the current contract of its class, or a refusal. Moves no money. */
export async function quotePrice(deps: BillingDeps, work: PricedWork): Promise<BoundQuote> {
  const { accountId, facts } = work;
  const [currency, contract] = await Promise.all([deps.accounts.findCurrency(accountId), findContract(deps, work)]);
  if (currency === undefined) throw unknownAccount('account_id');
  if (work.currency !== undefined && work.currency !== currency)
    throw badField('currency', `must be ${currency}, the currency of the account`);
  if (contract === undefined) throw noPrice('no_contract');
  const amount = computeAmount(contract.terms, facts);
  if (typeof amount === 'string') throw noPrice(amount);
  const leastBound = computeLeastBound({ amount, facts }, contract.terms, deps.overrunFactor);
  return { amount, currency, contract: contract.key, version: contract.version, leastBound };
}

/** Finds the first contract there is among those that can price the work. */
async function findContract({ prices }: BillingDeps, work: PricedWork): Promise<PriceContract | undefined> {
  for (const key of listContractKeys(work)) {
    const contract = await prices.current(key);
    if (contract !== undefined) return contract;
  }
  return undefined;
}

/** A contract of the choices comes before the one of the model, and one of the class before the one of every class. */
function listContractKeys({ facts: { priceKey }, priceClass, choices = [] }: PricedWork): readonly string[] {
  const sorted = choices.toSorted();
  const chosen = [...new Set([toChoiceKey(priceKey, sorted), ...sorted.map((one) => toChoiceKey(priceKey, [one]))])];
  const keys = sorted.length === 0 ? [priceKey] : [...chosen, priceKey];
  return priceClass === undefined ? keys : keys.flatMap((key) => [toClassKey(key, priceClass), key]);
}
