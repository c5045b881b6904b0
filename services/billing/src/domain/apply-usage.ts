import type { ReportedUsage } from './hold.ts';
import { areTokensKnown, computeAmount } from './price.ts';
import type { PriceFacts, PriceFault } from './price.ts';
import type { PriceTerms } from './price-terms.ts';
import type { Nanos } from './money.ts';

/**
 * Returns the frozen facts, replaced by the measured quantities. Returns undefined if no quantity that the contract
 * prices was measured.
 */
export function applyUsage(facts: PriceFacts, terms: PriceTerms, usage: ReportedUsage): PriceFacts | undefined {
  let used: PriceFacts | undefined;
  for (const measured of [
    measureSeconds(facts, terms, usage),
    measureTokens(terms, usage),
    measureImages(terms, usage),
    measureCharacters(terms, usage),
    measureSearches(terms, usage),
  ]) {
    if (measured !== undefined) used = { ...(used ?? facts), ...measured };
  }
  // an upstream that reports usage and no search did not search
  return used === undefined ? undefined : { ...used, searches: atLeastZero(usage.searches) };
}

/** Reports whether every priced quantity was known when the hold was computed. */
export function isEstimated(facts: PriceFacts, terms: PriceTerms): boolean {
  return (
    (terms.perSecond === undefined || facts.seconds > 0n) &&
    (terms.perMillionTokens === undefined || areTokensKnown(facts))
  );
}

/**
 * The prices that each channel pays its upstream: the terms by channel and price key. A key without terms has no
 * known cost.
 */
export type UpstreamPrices = ReadonlyMap<string, ReadonlyMap<string, PriceTerms>>;

/** The estimated cost of charged work. Like a charge, it is by the reported usage, or by the frozen facts. */
export function computeUpstreamCost(terms: PriceTerms, facts: PriceFacts, usage: ReportedUsage): Nanos | PriceFault {
  return computeAmount(terms, applyUsage(facts, terms, usage) ?? facts);
}

/**
 * The total covers input and output. If input has a price of its own, the frozen input seconds are taken out of the
 * total.
 */
function measureSeconds(
  facts: PriceFacts,
  terms: PriceTerms,
  { seconds }: ReportedUsage,
): Partial<PriceFacts> | undefined {
  if (terms.perSecond === undefined || seconds === undefined || seconds <= 0n) return undefined;
  if (terms.perInputSecond === undefined) return { seconds, inputVideoSeconds: 0n };
  const inputVideoSeconds = facts.inputVideoSeconds < seconds ? facts.inputVideoSeconds : seconds;
  return { seconds: seconds - inputVideoSeconds, inputVideoSeconds };
}

function measureTokens(terms: PriceTerms, usage: ReportedUsage): Partial<PriceFacts> | undefined {
  const inputTokens = atLeastZero(usage.inputTokens);
  const outputTokens = atLeastZero(usage.outputTokens);
  if (terms.perMillionTokens === undefined || inputTokens + outputTokens === 0n) return undefined;
  const cached = atLeastZero(usage.cachedInputTokens);
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: cached < inputTokens ? cached : inputTokens,
    parts: usage.parts,
  };
}

function measureImages(terms: PriceTerms, { images }: ReportedUsage): Partial<PriceFacts> | undefined {
  return terms.images.each === 0n || images === undefined || images < 0n ? undefined : { images };
}

function measureCharacters(terms: PriceTerms, { characters }: ReportedUsage): Partial<PriceFacts> | undefined {
  return terms.perMillionCharacters === 0n || characters === undefined || characters < 0n ? undefined : { characters };
}

function measureSearches(terms: PriceTerms, { searches }: ReportedUsage): Partial<PriceFacts> | undefined {
  return terms.perSearch === 0n || searches === undefined || searches < 0n ? undefined : { searches };
}

function atLeastZero(count: bigint | undefined): bigint {
  return count === undefined || count < 0n ? 0n : count;
}

/** A hold before it is placed, or after it is priced again. */
export interface PricedHold {
  readonly amount: Nanos;
  readonly facts: PriceFacts;
}

/**
 * The least bound that a hold fits. If every priced quantity is known, the bound is the amount, because usage above the
 * ordered quantities is charged up to the bound. If the tokens or the seconds are known only afterwards, the largest
 * charge that needs no operator must fit.
 */
export function computeLeastBound({ amount, facts }: PricedHold, terms: PriceTerms, overrunFactor: number): Nanos {
  return isEstimated(facts, terms) ? amount : BigInt(overrunFactor) * amount;
}
