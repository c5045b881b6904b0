import { deriveValues, deriveWords, listWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import { PriceUnit as WireUnit } from '@reelgate/proto/billing/v1/price';
import type { PriceSheet as WireSheet, UnitPrice as WirePrice } from '@reelgate/proto/billing/v1/price';
import { TokenClass } from '@reelgate/proto/billing/v1/token_queue';
import type { BillingClient } from './billing-client.ts';
import { withDeadline } from './caller.ts';
import type { AccountCaller } from './caller.ts';
import type { WaitClass } from './task-queue.ts';
import { requireValue } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

const DEADLINE_MS = 5000;
/** The maximum number of queries in one call. */
const QUERIES_MAX = 1000;

export type PriceUnit = EnumWord<typeof WireUnit>;
export const PRICE_UNITS = listWords(WireUnit);

export interface UnitPrice {
  readonly unit: PriceUnit;
  /** Undefined if the price is the same for every resolution. */
  readonly resolution: string | undefined;
  /** The number of free units in an order. */
  readonly free: number;
  readonly amountNanos: bigint;
}

/** The current price under a key. */
export interface PriceSheet {
  readonly isPriced: boolean;
  readonly resolutions: readonly string[];
  readonly prices: readonly UnitPrice[];
}

export interface PriceSheetQuery {
  readonly priceKey: string;
  readonly resolutions: readonly string[];
}

export interface PriceQuestion {
  readonly queries: readonly PriceSheetQuery[];
  /** The class in which the work would wait, undefined if there is none. */
  readonly priceClass: WaitClass | undefined;
}

export interface PriceSheets {
  readonly currency: string;
  /** A sheet for each query, in the same order. */
  readonly sheets: readonly PriceSheet[];
}

const CLASSES = deriveValues(TokenClass);
const UNITS = deriveWords(WireUnit);

/** Reads the prices of single units in the currency of an account. */
export async function readUnitPrices(
  billing: Pick<BillingClient, 'listUnitPrices'>,
  { queries, priceClass }: PriceQuestion,
  { accountId, ...call }: AccountCaller,
): Promise<PriceSheets> {
  const sheets: PriceSheet[] = [];
  let currency = '';
  for (let from = 0; from < queries.length; from += QUERIES_MAX) {
    const chunk = queries
      .slice(from, from + QUERIES_MAX)
      .map(({ priceKey, resolutions }) => ({ priceKey, resolutions: [...resolutions] }));
    const ofClass = priceClass === undefined ? TokenClass.UNSPECIFIED : CLASSES[priceClass];
    const request = { accountId, queries: chunk, class: ofClass };
    const answer = await billing.listUnitPrices(request, withDeadline(call, DEADLINE_MS));
    currency = answer.currency;
    sheets.push(...answer.sheets.map(fromWireSheet));
  }
  return { currency, sheets };
}

function fromWireSheet({ priced: isPriced, resolutions, prices }: WireSheet): PriceSheet {
  return { isPriced, resolutions, prices: prices.map(fromWirePrice) } satisfies MessageMapping<
    WireSheet,
    'priceKey' | 'priced'
  >;
}

function fromWirePrice({ unit, resolution, free, amountNanos }: WirePrice): UnitPrice {
  return {
    // a price in a unit that this process does not know would lead to a wrong sum
    unit: requireValue(UNITS[unit]),
    resolution: resolution === '' ? undefined : resolution,
    free: Number(free),
    amountNanos,
  } satisfies MessageMapping<WirePrice>;
}
