import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { priceFacts } from '../../testing/facts.ts';
import { formatAmount } from './money.ts';
import { computeAmount, computeBound } from './price.ts';
import { parseTerms } from './price-terms.ts';
import { TOKEN_PARTS, TOKEN_RATES, TOKEN_RATE_NAMES, splitTokens } from './token-rates.ts';
import type { CountedTokens, TokenParts } from './token-rates.ts';

/** A price of its own for every part, in powers of ten, so that the digits of an amount are the counts. */
const TERMS = parseTerms({
  per_million_tokens: {
    input: '1',
    cached_input: '10',
    cache_write: '100',
    cache_write_1h: '1000',
    audio_input: '10000',
    image_input: '100000',
    cached_audio_input: '1000000',
    cached_image_input: '10000000',
    output: '0',
    reasoning: '0',
    audio_output: '0',
    image_output: '0',
  },
});
const OUTPUT_TERMS = parseTerms({
  per_million_tokens: { input: '0', output: '1', reasoning: '10', audio_output: '100', image_output: '1000' },
});

describe('a token has one price', () => {
  test.each<[string, tokens: readonly [input: bigint, cached: bigint], parts: TokenParts, digits: string]>([
    ['input alone', [9n, 0n], {}, '9'],
    ['cached input', [9n, 4n], {}, '45'],
    ['a written cache of five minutes', [9n, 0n], { cacheWrite: 3n }, '306'],
    ['written caches of both lifetimes', [9n, 1n], { cacheWrite: 5n, cacheWrite1h: 2n }, '2313'],
    ['sound and pictures', [9n, 0n], { audioInput: 2n, imageInput: 3n }, '320004'],
    ['sound of which a part was cached', [9n, 4n], { audioInput: 5n, cachedAudio: 3n }, '3020013'],
    ['pictures of which a part was cached', [9n, 4n], { imageInput: 5n, cachedImage: 3n }, '30200013'],
    ['more parts than the input has', [5n, 3n], { cacheWrite: 4n, audioInput: 9n }, '230'],
    ['more cached sound than was cached', [5n, 2n], { audioInput: 4n, cachedAudio: 9n }, '2020001'],
    ['a longer lifetime of more than was written', [5n, 0n], { cacheWrite: 2n, cacheWrite1h: 4n }, '2003'],
  ])('%s', (_what, [inputTokens, cachedInputTokens], parts, digits) => {
    const amount = computeAmount(TERMS, priceFacts({ inputTokens, cachedInputTokens, parts }));

    // each price is for a million tokens
    expect(amount).toBe(BigInt(digits) * 1000n);
  });
  test.each<[string, output: bigint, parts: TokenParts, digits: string]>([
    ['output alone', 9n, {}, '9'],
    ['reasoning', 9n, { reasoning: 4n }, '45'],
    ['sound and pictures', 9n, { reasoning: 1n, audioOutput: 2n, imageOutput: 3n }, '3213'],
    ['more parts than the output has', 5n, { reasoning: 4n, audioOutput: 9n, imageOutput: 9n }, '140'],
  ])('%s', (_what, outputTokens, parts, digits) => {
    expect(computeAmount(OUTPUT_TERMS, priceFacts({ outputTokens, parts }))).toBe(BigInt(digits) * 1000n);
  });

  const count = fc.bigInt(-5n, 10n ** 15n);
  const tokens: fc.Arbitrary<CountedTokens> = fc.record({
    inputTokens: fc.bigInt(0n, 10n ** 15n),
    cachedInputTokens: fc.bigInt(0n, 10n ** 15n),
    outputTokens: fc.bigInt(0n, 10n ** 15n),
    parts: fc.record(Object.fromEntries(TOKEN_PARTS.map((name) => [name, count])), { requiredKeys: [] }),
  });
  test('whatever an upstream reports', () => {
    fc.assert(
      fc.property(tokens, (counted) => {
        const split = splitTokens(counted);
        const sumOf = (side: 'input' | 'output'): bigint =>
          TOKEN_RATE_NAMES.filter((name) => TOKEN_RATES[name].side === side).reduce(
            (all, name) => all + split[name],
            0n,
          );

        expect([sumOf('input'), sumOf('output')]).toEqual([counted.inputTokens, counted.outputTokens]);
        expect(Object.values(split).every((part) => part >= 0n)).toBe(true);
      }),
    );
  });
  test('and the hold has room for all of them, whatever their parts are', () => {
    const terms = parseTerms({
      per_million_tokens: { input: '3', output: '15', cached_input: '0.3', cache_write_1h: '6', audio_output: '64' },
    });
    fc.assert(
      fc.property(tokens, (counted) => {
        const { inputTokens, outputTokens } = counted;
        const bound = computeBound(terms, priceFacts({ inputTokens, outputTokens }));
        const amount = computeAmount(terms, priceFacts(counted));

        expect(typeof bound === 'string' || (typeof amount === 'bigint' && amount <= bound)).toBe(true);
      }),
    );
  });
});

test('a search has a price of its own', () => {
  const terms = parseTerms({ per_search: '0.01', per_million_tokens: { input: '3', output: '15' } });
  const amount = computeAmount(terms, priceFacts({ inputTokens: 1_000_000n, searches: 2n }));

  expect(typeof amount === 'bigint' && formatAmount(amount)).toBe('3.02');
});
