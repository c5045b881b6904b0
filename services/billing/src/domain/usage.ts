import type { ReportedUsage } from './hold.ts';
import type { Nanos } from './money.ts';
import type { PriceFacts } from './price.ts';
import { areTokensKnown } from './price.ts';

/** What charges come to, and for how much of what. */
export interface Quantities {
  readonly requests: bigint;
  readonly charged: Nanos;
  readonly seconds: bigint;
  readonly inputTokens: bigint;
  readonly cachedInputTokens: bigint;
  readonly outputTokens: bigint;
  readonly images: bigint;
  readonly characters: bigint;
}

export type UsageGroup = 'model' | 'day' | 'token';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const NOTHING_USED: Quantities = {
  requests: 0n,
  charged: 0n,
  seconds: 0n,
  inputTokens: 0n,
  cachedInputTokens: 0n,
  outputTokens: 0n,
  images: 0n,
  characters: 0n,
};

/** No count of one request is taken for more: an hour of them always fits 64 bits. */
export const COUNT_MAX = 1_000_000_000n;

/**
 * One request: what the upstream reported, and in its place the frozen facts where it did not. What was measured in
 * tokens has no seconds of its own.
 */
export function quantitiesOf(charged: Nanos, facts: PriceFacts, usage: Partial<ReportedUsage> | undefined): Quantities {
  const reported = { inputTokens: count(usage?.inputTokens), outputTokens: count(usage?.outputTokens) };
  const isMeasured = areTokensKnown(reported);
  const tokens = isMeasured
    ? reported
    : { inputTokens: count(facts.inputTokens), outputTokens: count(facts.outputTokens) };
  const seconds = count(usage?.seconds);
  return {
    requests: 1n,
    charged,
    ...tokens,
    cachedInputTokens: count(usage?.cachedInputTokens),
    seconds: seconds > 0n || isMeasured ? seconds : count(facts.seconds + facts.inputVideoSeconds),
    images: count(usage?.images ?? facts.images),
    characters: count(usage?.characters ?? facts.characters),
  };
}

export function addQuantities(left: Quantities, right: Quantities): Quantities {
  return {
    requests: left.requests + right.requests,
    charged: left.charged + right.charged,
    seconds: left.seconds + right.seconds,
    inputTokens: left.inputTokens + right.inputTokens,
    cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    images: left.images + right.images,
    characters: left.characters + right.characters,
  };
}

const OPERATION = '__';

/**
 * `Alpha-H3__regeneration` and `Alpha-H3` are both of the model Alpha-H3: of those known the longest, or what stands
 * before the last two underscores.
 */
export function modelOfKey(priceKey: string, known: ReadonlySet<string>): string {
  if (known.has(priceKey)) return priceKey;
  const first = priceKey.lastIndexOf(OPERATION);
  for (let end = first; end > 0; end = priceKey.lastIndexOf(OPERATION, end - 1)) {
    if (known.has(priceKey.slice(0, end))) return priceKey.slice(0, end);
  }
  return first > 0 ? priceKey.slice(0, first) : priceKey;
}

/** Whether the price of an operation of one model would stand under the name of the other. */
export function isKeyOf(model: string, other: string): boolean {
  return other.startsWith(model + OPERATION);
}

export function hourOf(ms: number): number {
  return ms - (ms % HOUR_MS);
}

function count(value: bigint | undefined): bigint {
  if (value === undefined || value < 0n) return 0n;
  return value > COUNT_MAX ? COUNT_MAX : value;
}
