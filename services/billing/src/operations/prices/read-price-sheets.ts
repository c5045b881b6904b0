import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { ListUnitPricesResponseSchema } from '@reelgate/proto/billing/v1/billing_service';
import type { ListUnitPricesResponse } from '@reelgate/proto/billing/v1/billing_service';
import { PriceSheetSchema, PriceUnit, UnitPriceSchema } from '@reelgate/proto/billing/v1/price';
import type { PriceSheet } from '@reelgate/proto/billing/v1/price';
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
