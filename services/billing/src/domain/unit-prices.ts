import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { PriceUnit as WireUnit } from '@reelgate/proto/billing/v1/price';
import type { Nanos } from './money.ts';
import { computeAmount, secondPrice } from './price.ts';
import type { PriceFacts } from './price.ts';
import type { PriceTerms } from './price-terms.ts';

/** A quantity of a video order that has a price. `hold` replaces tokens until they are known. */
export type PriceUnit = EnumWord<typeof WireUnit>;

export interface UnitPrice {
  readonly unit: PriceUnit;
  /** Empty if the price is the same for every resolution. */
  readonly resolution: string;
  /** The number of free units in an order. */
  readonly free: bigint;
  readonly amount: Nanos;
}

export interface UnitPrices {
  /** The resolutions of the question that have a price. */
  readonly resolutions: readonly string[];
  /** A unit that is free is left out, except for seconds of output. */
  readonly prices: readonly UnitPrice[];
}

/** A video order knows its seconds, and never its tokens. */
const SHORTEST_ORDER: PriceFacts = {
  priceKey: '',
  resolution: '',
  seconds: 1n,
  inputVideoSeconds: 0n,
  images: 0n,
  inputTokens: 0n,
  outputTokens: 0n,
  characters: 0n,
};

/**
 * Lists the prices of single units of a video order under a contract. Their sum over the quantities of an order is its
 * amount. `resolutions` is empty if orders do not name a resolution. Returns undefined if an order has no price at any
 * of the resolutions.
 */
export function listUnitPrices(terms: PriceTerms, resolutions: readonly string[]): UnitPrices | undefined {
  const asked = resolutions.length === 0 ? [''] : resolutions;
  const priced = asked.filter((resolution) => hasPrice(terms, resolution));
  if (priced.length === 0) return undefined;
  const { images, perRequest, perMillionTokens: tokens } = terms;
  const prices = [
    ...priced.flatMap((resolution) => listSecondPrices(terms, resolution)),
    ...listPositive('input_image', images.each, images.free),
    ...listPositive('request', perRequest),
    ...listPositive('million_input_tokens', tokens?.input ?? 0n),
    ...listPositive('million_output_tokens', tokens?.output ?? 0n),
    ...listPositive('hold', tokens === undefined ? 0n : (terms.hold ?? 0n)),
  ];
  return { resolutions: resolutions.length === 0 ? [] : priced, prices };
}

function hasPrice(terms: PriceTerms, resolution: string): boolean {
  return typeof computeAmount(terms, { ...SHORTEST_ORDER, resolution }) === 'bigint';
}

function listSecondPrices(terms: PriceTerms, resolution: string): readonly UnitPrice[] {
  const amount = secondPrice(terms, resolution) ?? 0n;
  const output: UnitPrice = { unit: 'output_second', resolution, free: 0n, amount };
  return [
    ...(terms.perSecond === undefined ? [] : [output]),
    ...listPositive('input_second', terms.perInputSecond ?? amount).map((price) => ({ ...price, resolution })),
  ];
}

function listPositive(unit: PriceUnit, amount: Nanos, free = 0n): readonly UnitPrice[] {
  return amount === 0n ? [] : [{ unit, resolution: '', free, amount }];
}
