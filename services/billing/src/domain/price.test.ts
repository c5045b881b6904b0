import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { priceFacts } from '../../testing/facts.ts';
import { formatAmount } from './money.ts';
import { computeAmount } from './price.ts';
import type { PriceFacts } from './price.ts';
import { parseTerms } from './price-terms.ts';
import type { TermsEntry } from './price-terms.ts';

const VIDEO: TermsEntry = { per_second: { '768P': '0.08', '2K': '0.13' }, images: { free: 5, each: '0.04' } };
const REGENERATION: TermsEntry = { per_second: '0.05' };
const CONTEXT_IR: TermsEntry = { per_million_tokens: { input: '0.90', output: '3.60' }, hold: '0.05' };

function priced(entry: TermsEntry, facts: Partial<PriceFacts>): string {
  const amount = computeAmount(parseTerms(entry), priceFacts(facts));
  return typeof amount === 'bigint' ? formatAmount(amount) : amount;
}

describe('the amount of an order', () => {
  test.each<[string, TermsEntry, Partial<PriceFacts>, string]>([
    ['seconds at the price of the resolution', VIDEO, { resolution: '768P', seconds: 5n }, '0.4'],
    ['seconds at the price of another resolution', VIDEO, { resolution: '2K', seconds: 5n }, '0.65'],
    ['reference video at the price of output', VIDEO, { resolution: '2K', seconds: 5n, inputVideoSeconds: 6n }, '1.43'],
    [
      'reference video at its own price',
      { ...VIDEO, per_input_second: '0.01' },
      { resolution: '2K', seconds: 5n, inputVideoSeconds: 6n },
      '0.71',
    ],
    ['only free images', VIDEO, { resolution: '768P', seconds: 4n, images: 5n }, '0.32'],
    ['more images than are free', VIDEO, { resolution: '768P', seconds: 4n, images: 7n }, '0.4'],
    ['one price for every resolution', REGENERATION, { resolution: '2K', seconds: 8n }, '0.4'],
    ['the only priced resolution when the order names none', { per_second: { '2K': '0.05' } }, { seconds: 8n }, '0.4'],
    ['the hold of the contract for unknown tokens', CONTEXT_IR, { seconds: 6n }, '0.05'],
    ['tokens', CONTEXT_IR, { inputTokens: 5664n, outputTokens: 3426n }, '0.0174312'],
    ['tokens of one kind alone', CONTEXT_IR, { outputTokens: 1_000_000n }, '3.6'],
    [
      'cached input at its own price',
      { per_million_tokens: { input: '2', output: '8', cached_input: '0.5' } },
      { inputTokens: 1_000_000n, cachedInputTokens: 400_000n },
      '1.4',
    ],
    [
      'cached input at the price of other input',
      { per_million_tokens: { input: '2', output: '8' } },
      { inputTokens: 1_000_000n, cachedInputTokens: 400_000n },
      '2',
    ],
    ['characters', { per_million_characters: '15' }, { characters: 200n }, '0.003'],
    ['seconds of sound', { per_second: '0.0001', hold: '0.06' }, { seconds: 90n }, '0.009'],
    ['the hold of the contract for unknown seconds', { per_second: '0.0001', hold: '0.06' }, {}, '0.06'],
    ['nothing for unknown seconds without a price', { per_second: '0' }, {}, '0'],
    [
      'known seconds and the hold for unknown tokens',
      { per_second: '1', per_million_tokens: { input: '1', output: '1' }, hold: '0.5' },
      { seconds: 2n },
      '2.5',
    ],
    [
      'known tokens, and nothing for unknown seconds',
      { per_second: '1', per_million_tokens: { input: '1', output: '1' }, hold: '0.5' },
      { inputTokens: 1_000_000n },
      '1',
    ],
    ['a request', { per_request: '0.02' }, { seconds: 8n, images: 3n }, '0.02'],
    [
      'everything together',
      { ...VIDEO, ...CONTEXT_IR, per_request: '1' },
      { resolution: '768P', seconds: 1n, images: 6n, inputTokens: 1_000_000n },
      '2.02',
    ],
    ['an explicit zero', { per_second: '0' }, { seconds: 15n }, '0'],
  ])('%s', (_what, entry, facts, amount) => {
    expect(priced(entry, facts)).toBe(amount);
  });

  test.each<[string, TermsEntry, Partial<PriceFacts>, string]>([
    [
      'a resolution that the contract does not price',
      VIDEO,
      { resolution: '1080P', seconds: 5n },
      'no_resolution_price',
    ],
    ['no resolution when several have prices', VIDEO, { seconds: 5n }, 'no_resolution_price'],
    [
      "the name of an object's built-in property",
      VIDEO,
      { resolution: 'constructor', seconds: 5n },
      'no_resolution_price',
    ],
    ['unknown tokens without a hold price', { per_million_tokens: { input: '1', output: '1' } }, {}, 'no_hold'],
    ['unknown seconds without a hold price', { per_second: '0.0001' }, {}, 'no_hold'],
    ['a sum above the largest amount', VIDEO, { resolution: '2K', seconds: 2n ** 63n - 1n }, 'too_large'],
  ])('is undefined for %s', (_what, entry, facts, fault) => {
    expect(priced(entry, facts)).toBe(fault);
  });

  test('is rounded up once, after the sum', () => {
    const tiny: TermsEntry = { per_million_tokens: { input: '0.000000001', output: '0.000000001' } };

    expect(priced(tiny, { inputTokens: 1n })).toBe('0.000000001');
    expect(priced(tiny, { inputTokens: 400_000n, outputTokens: 600_000n })).toBe('0.000000001');
    expect(priced(tiny, { inputTokens: 400_000n, outputTokens: 600_001n })).toBe('0.000000002');
  });

  test('never falls when a quantity grows', () => {
    const count = fc.bigInt({ min: 0n, max: 1_000_000n });
    const facts = fc.record({
      seconds: count,
      inputVideoSeconds: count,
      images: count,
      inputTokens: count,
      outputTokens: count,
    });
    const terms = parseTerms({
      ...VIDEO,
      per_million_tokens: { input: '0.9', output: '3.6' },
      hold: '0',
      per_input_second: '0.01',
    });
    const amount = (some: Partial<PriceFacts>): bigint =>
      BigInt(computeAmount(terms, priceFacts({ resolution: '2K', ...some })));

    fc.assert(
      fc.property(facts, facts, (some, more) => {
        const sum = Object.fromEntries(
          Object.entries(some).map(([name, value]) => [name, value + more[name as keyof typeof more]]),
        );
        expect(amount(sum)).toBeGreaterThanOrEqual(amount(some));
      }),
    );
  });
});
