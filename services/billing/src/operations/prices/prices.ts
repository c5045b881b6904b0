import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { ListUnitPricesResponseSchema } from '@reelgate/proto/billing/v1/billing_service';
import type { ListUnitPricesResponse } from '@reelgate/proto/billing/v1/billing_service';
import { PriceSheetSchema, PriceUnit, UnitPriceSchema } from '@reelgate/proto/billing/v1/price';
import type { PriceSheet } from '@reelgate/proto/billing/v1/price';
import type { Nanos } from '../../domain/money.ts';
import { computeLeastBound } from '../../domain/apply-usage.ts';
import { toChoiceKey, toClassKey } from '../../domain/price-class.ts';
import type { PriceClass } from '../../domain/price-class.ts';
import { computeAmount } from '../../domain/price.ts';
import type { PriceContract, PriceFacts } from '../../domain/price.ts';
import { badField, noPrice, unknownAccount } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';
import { listUnitPrices } from '../../domain/unit-prices.ts';
import type { UnitPrices } from '../../domain/unit-prices.ts';

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

export interface PriceSheetQuery {
  readonly priceKey: string;
  /** Empty if orders name no resolution. */
  readonly resolutions: readonly string[];
}

export interface PriceSheetsRequest {
  readonly queries: readonly PriceSheetQuery[];
  /** The class in which the work would wait, undefined if it has no class. */
  readonly priceClass: PriceClass | undefined;
}

const UNITS = deriveValues(PriceUnit);

/**
 * Lists the prices of single units under the current contracts, one sheet for each query, in the currency of the
 * account. Like the prices of `quotePrice`, they are at most a second old.
 */
export async function readPriceSheets(
  deps: BillingDeps,
  accountId: string,
  { queries, priceClass }: PriceSheetsRequest,
): Promise<ListUnitPricesResponse> {
  const [currency, contracts] = await Promise.all([
    deps.accounts.findCurrency(accountId),
    deps.prices.listCurrent(queries.flatMap(({ priceKey }) => listKeys(priceKey, priceClass))),
  ]);
  if (currency === undefined) throw unknownAccount('account_id');
  const sheets = queries.map(({ priceKey, resolutions }) => {
    const [contract] = listKeys(priceKey, priceClass).flatMap((key) => contracts.get(key) ?? []);
    return toPriceSheet(priceKey, contract && listUnitPrices(contract.terms, resolutions));
  });
  return toMessage(ListUnitPricesResponseSchema, { currency, sheets });
}

/** Without prices, no order under this key has a price. */
function toPriceSheet(priceKey: string, sheet: UnitPrices | undefined): PriceSheet {
  return toMessage(PriceSheetSchema, {
    priceKey,
    priced: sheet !== undefined,
    resolutions: [...(sheet?.resolutions ?? [])],
    prices: sheet?.prices.map(({ unit, amount, ...price }) =>
      toMessage(UnitPriceSchema, { ...price, unit: UNITS[unit], amountNanos: amount }),
    ),
  });
}

/** The keys of the contracts that price the work, the first one first. */
function listKeys(priceKey: string, priceClass: PriceClass | undefined): readonly string[] {
  return priceClass === undefined ? [priceKey] : [toClassKey(priceKey, priceClass), priceKey];
}
