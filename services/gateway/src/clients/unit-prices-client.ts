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
/** The most queries of one call. */
const QUERIES_MAX = 1000;

export const PRICE_UNITS = [
  'output_second',
  'input_second',
  'input_image',
  'request',
  'million_input_tokens',
  'million_output_tokens',
  'hold',
] as const;
export type PriceUnit = (typeof PRICE_UNITS)[number];

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
  /** The class in which the work would wait; undefined: none. */
  readonly priceClass: WaitClass | undefined;
}

export interface PriceSheets {
  readonly currency: string;
  /** One for each query, in the same order. */
  readonly sheets: readonly PriceSheet[];
}

const CLASSES: Readonly<Record<WaitClass, TokenClass>> = {
  interactive: TokenClass.INTERACTIVE,
  standard: TokenClass.STANDARD,
  batch: TokenClass.BATCH,
};
const UNITS: Readonly<Record<WireUnit, PriceUnit | undefined>> = {
  [WireUnit.UNSPECIFIED]: undefined,
  [WireUnit.OUTPUT_SECOND]: 'output_second',
  [WireUnit.INPUT_SECOND]: 'input_second',
  [WireUnit.INPUT_IMAGE]: 'input_image',
  [WireUnit.REQUEST]: 'request',
  [WireUnit.MILLION_INPUT_TOKENS]: 'million_input_tokens',
  [WireUnit.MILLION_OUTPUT_TOKENS]: 'million_output_tokens',
  [WireUnit.HOLD]: 'hold',
};

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
    // a price that this process cannot name would make its sum wrong
    unit: requireValue(UNITS[unit]),
    resolution: resolution === '' ? undefined : resolution,
    free: Number(free),
    amountNanos,
  } satisfies MessageMapping<WirePrice>;
}
