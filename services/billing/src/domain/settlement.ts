import type { ChargeBasis, Hold, Usage } from './hold.ts';
import type { Nanos } from './money.ts';
import { amountOf, areTokensKnown } from './price.ts';
import type { PriceFacts } from './price.ts';
import type { PriceTerms } from './price-terms.ts';

/** What is to become of a hold. */
export type Ending =
  | { readonly kind: 'charge'; readonly amount: Nanos; readonly basis: ChargeBasis; readonly usage: Usage }
  | { readonly kind: 'release' }
  /** The amount is what usage would come to; undefined: more than an amount can be. */
  | { readonly kind: 'defer'; readonly amount: Nanos | undefined };

export interface SettlementRules {
  /** Usage up to this many times the hold is charged in full. */
  readonly overrunFactor: number;
  /** A person has decided: no bound. */
  readonly confirmed: boolean;
}

/** The upstream's usage under the frozen contract; without it the frozen estimate; where its facts are unknown, the hold as it stands. */
export function decideSettlement(hold: Hold, terms: PriceTerms, usage: Usage, rules: SettlementRules): Ending {
  const used = usedFacts(hold.facts, terms, usage);
  if (used === undefined) return { kind: 'charge', amount: hold.amount, basis: isEstimated(hold.facts, terms) ? 'estimate' : 'hold', usage };
  const amount = amountOf(terms, used);
  if (typeof amount === 'string') return { kind: 'defer', amount: undefined };
  if (!rules.confirmed && amount > BigInt(rules.overrunFactor) * hold.amount) return { kind: 'defer', amount };
  return { kind: 'charge', amount, basis: 'usage', usage };
}

/** The frozen facts with the measured ones in their place; undefined when nothing that the contract prices was measured. */
function usedFacts(facts: PriceFacts, terms: PriceTerms, usage: Usage): PriceFacts | undefined {
  const seconds = measuredSeconds(facts, terms, usage);
  const tokens = measuredTokens(terms, usage);
  return seconds === undefined && tokens === undefined ? undefined : { ...facts, ...seconds, ...tokens };
}

/** The total covers input and output; where input has a price of its own, the frozen input seconds are taken out of it. */
function measuredSeconds(facts: PriceFacts, terms: PriceTerms, { seconds }: Usage): Pick<PriceFacts, 'seconds' | 'inputVideoSeconds'> | undefined {
  if (terms.perSecond === undefined || seconds === undefined || seconds <= 0n) return undefined;
  if (terms.perInputSecond === undefined) return { seconds, inputVideoSeconds: 0n };
  const inputVideoSeconds = facts.inputVideoSeconds < seconds ? facts.inputVideoSeconds : seconds;
  return { seconds: seconds - inputVideoSeconds, inputVideoSeconds };
}

function measuredTokens(terms: PriceTerms, usage: Usage): Pick<PriceFacts, 'inputTokens' | 'outputTokens'> | undefined {
  const inputTokens = atLeastZero(usage.inputTokens);
  const outputTokens = atLeastZero(usage.outputTokens);
  if (terms.perMillionTokens === undefined || inputTokens + outputTokens === 0n) return undefined;
  return { inputTokens, outputTokens };
}

/** Whether all that the contract prices was known when the hold was computed. */
function isEstimated(facts: PriceFacts, terms: PriceTerms): boolean {
  return (terms.perSecond === undefined || facts.seconds > 0n) && (terms.perMillionTokens === undefined || areTokensKnown(facts));
}

function atLeastZero(count: bigint | undefined): bigint {
  return count === undefined || count < 0n ? 0n : count;
}
