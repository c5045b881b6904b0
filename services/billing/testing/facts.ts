import type { PriceFacts } from '../src/domain/price.ts';

/** Price facts in which every quantity that the test does not set is zero. */
export function priceFacts(changes: Partial<PriceFacts> = {}): PriceFacts {
  return {
    priceKey: 'Alpha-H3',
    resolution: '',
    seconds: 0n,
    inputVideoSeconds: 0n,
    images: 0n,
    inputTokens: 0n,
    cachedInputTokens: 0n,
    outputTokens: 0n,
    characters: 0n,
    ...changes,
  };
}
