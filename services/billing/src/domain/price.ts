import { AMOUNT_NANOS_MAX, divideUp } from './money.ts';
import type { Nanos } from './money.ts';
import type { PriceTerms, TokenPrices } from './price-terms.ts';
import { TOKEN_RATES, TOKEN_RATE_NAMES, splitTokens } from './token-rates.ts';
import type { TokenParts, TokenRate } from './token-rates.ts';

/**
 * The quantities that a contract turns into an amount. None is negative. Zero tokens or seconds mean that their number
 * is unknown.
 */
export interface PriceFacts {
  readonly priceKey: string;
  /** Empty if one price serves every resolution. */
  readonly resolution: string;
  readonly seconds: bigint;
  readonly inputVideoSeconds: bigint;
  readonly images: bigint;
  readonly inputTokens: bigint;
  /** The part of the input tokens that was read from a cache; zero by default. Only an upstream reports it. */
  readonly cachedInputTokens?: bigint | undefined;
  readonly outputTokens: bigint;
  /** Is not set if the upstream reports no parts. */
  readonly parts?: TokenParts | undefined;
  readonly characters: bigint;
  /** The searches of the call; zero by default. */
  readonly searches?: bigint | undefined;
}

/** One version of the price under a key. */
export interface PriceContract {
  readonly key: string;
  /** From 1. */
  readonly version: number;
  readonly terms: PriceTerms;
}

/**
 * The reason for which facts have no amount: the contract has no price for the resolution or for unknown quantities,
 * or the amount is too large.
 */
export type PriceFault = 'no_resolution_price' | 'no_hold' | 'too_large';

const MILLION = 1_000_000n;

/** The amount of the facts. It is exact until it is rounded up once, at the end. */
export function computeAmount(terms: PriceTerms, facts: PriceFacts): Nanos | PriceFault {
  const second = secondPrice(terms, facts.resolution);
  if (second === undefined) return 'no_resolution_price';
  if (terms.hold === undefined && !isBounded(terms, second, facts)) return 'no_hold';
  const chargedImages = facts.images > terms.images.free ? facts.images - terms.images.free : 0n;
  const whole =
    second * facts.seconds +
    (terms.perInputSecond ?? second) * facts.inputVideoSeconds +
    terms.images.each * chargedImages +
    terms.perRequest +
    terms.perSearch * (facts.searches ?? 0n) +
    unknownPart(terms, facts);
  const amount = divideUp(
    whole * MILLION + tokenMillionths(terms, facts) + terms.perMillionCharacters * facts.characters,
    MILLION,
  );
  return amount > AMOUNT_NANOS_MAX ? 'too_large' : amount;
}

/**
 * The amount of the most that facts can come to. Any of the tokens can turn out to be of the dearest part of its side, so
 * each is priced as such.
 */
export function computeBound(terms: PriceTerms, facts: PriceFacts): Nanos | PriceFault {
  const { perMillionTokens: prices } = terms;
  return computeAmount(prices === undefined ? terms : { ...terms, perMillionTokens: toDearestPrices(prices) }, facts);
}

function toDearestPrices(prices: TokenPrices): TokenPrices {
  const dearest = { input: 0n, output: 0n };
  for (const name of TOKEN_RATE_NAMES) {
    const { side } = TOKEN_RATES[name];
    if (prices[name] > dearest[side]) dearest[side] = prices[name];
  }
  return { ...prices, ...dearest };
}

interface TokenCounts {
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
}

export function areTokensKnown(facts: TokenCounts): boolean {
  return facts.inputTokens > 0n || facts.outputTokens > 0n;
}

function areSecondsKnown(facts: PriceFacts): boolean {
  return facts.seconds > 0n || facts.inputVideoSeconds > 0n;
}

/** Returns the price of a second of output at a resolution, or undefined if the contract has no price for it. */
export function secondPrice({ perSecond }: PriceTerms, resolution: string): Nanos | undefined {
  if (perSecond === undefined) return 0n;
  if ('every' in perSecond) return perSecond.every;
  const { byResolution } = perSecond;
  return resolution === '' && byResolution.size === 1
    ? byResolution.values().next().value
    : byResolution.get(resolution);
}

/**
 * Reports whether the quantities with a price are known. If they are not, the contract needs a `hold`, or the work
 * would be free.
 */
function isBounded(terms: PriceTerms, second: Nanos, facts: PriceFacts): boolean {
  if (terms.perMillionTokens !== undefined) return areTokensKnown(facts);
  return second === 0n || areSecondsKnown(facts);
}

/** The contract's `hold` while the tokens are unknown, or while the seconds are unknown if tokens have no price. */
function unknownPart(terms: PriceTerms, facts: PriceFacts): Nanos {
  const isKnown = terms.perMillionTokens === undefined ? areSecondsKnown(facts) : areTokensKnown(facts);
  return isKnown ? 0n : (terms.hold ?? 0n);
}

/** In millionths of a billionth, so that the sum is not rounded here. */
function tokenMillionths({ perMillionTokens: prices }: PriceTerms, facts: PriceFacts): bigint {
  if (prices === undefined) return 0n;
  const tokens: Readonly<Record<TokenRate, bigint>> = splitTokens(facts);
  return TOKEN_RATE_NAMES.reduce((sum, name) => sum + prices[name] * tokens[name], 0n);
}
