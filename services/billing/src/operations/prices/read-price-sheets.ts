import { unknownAccount } from '../../billing-refusals.ts';
import { listUnitPrices } from '../../domain/unit-prices.ts';
import type { UnitPrices } from '../../domain/unit-prices.ts';
import type { BillingDeps } from '../deps.ts';

export interface PriceSheetQuery {
  readonly priceKey: string;
  /** Empty if orders name no resolution. */
  readonly resolutions: readonly string[];
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
  queries: readonly PriceSheetQuery[],
): Promise<{ readonly currency: string; readonly sheets: readonly PriceSheet[] }> {
  const [currency, contracts] = await Promise.all([
    deps.accounts.findCurrency(accountId),
    deps.prices.listCurrent(queries.map(({ priceKey }) => priceKey)),
  ]);
  if (currency === undefined) throw unknownAccount('account_id');
  const sheets = queries.map(({ priceKey, resolutions }) => {
    const contract = contracts.get(priceKey);
    return { priceKey, prices: contract && listUnitPrices(contract.terms, resolutions) };
  });
  return { currency, sheets };
}
