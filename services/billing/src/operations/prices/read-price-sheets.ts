import { unknownAccount } from '../../billing-refusals.ts';
import { listUnitPrices } from '../../domain/unit-prices.ts';
import type { UnitPrices } from '../../domain/unit-prices.ts';
import { toClassKey } from '../../domain/price-class.ts';
import type { PriceClass } from '../../domain/price-class.ts';
import type { BillingDeps } from '../deps.ts';

export interface PriceSheetQuery {
  readonly priceKey: string;
  /** Empty if orders name no resolution. */
  readonly resolutions: readonly string[];
}

export interface PriceSheetsRequest {
  readonly queries: readonly PriceSheetQuery[];
  /** The class in which the work would wait; undefined: none. */
  readonly priceClass: PriceClass | undefined;
}

export interface PriceSheet {
  readonly priceKey: string;
  /** Undefined: no order under this key has a price. */
  readonly prices: UnitPrices | undefined;
}

/**
 * The prices of single units under the current contracts, one sheet for each query, in the currency of the account. They
 * are as old as those of `quotePrice`: at most a second.
 */
export async function readPriceSheets(
  deps: BillingDeps,
  accountId: string,
  { queries, priceClass }: PriceSheetsRequest,
): Promise<{ readonly currency: string; readonly sheets: readonly PriceSheet[] }> {
  const [currency, contracts] = await Promise.all([
    deps.accounts.findCurrency(accountId),
    deps.prices.listCurrent(queries.flatMap(({ priceKey }) => listKeys(priceKey, priceClass))),
  ]);
  if (currency === undefined) throw unknownAccount('account_id');
  const sheets = queries.map(({ priceKey, resolutions }) => {
    const [contract] = listKeys(priceKey, priceClass).flatMap((key) => contracts.get(key) ?? []);
    return { priceKey, prices: contract && listUnitPrices(contract.terms, resolutions) };
  });
  return { currency, sheets };
}

/** The keys of the contracts that price the work, the first one first. */
function listKeys(priceKey: string, priceClass: PriceClass | undefined): readonly string[] {
  return priceClass === undefined ? [priceKey] : [toClassKey(priceKey, priceClass), priceKey];
}
