import { describe, expect, test } from '@jest/globals';
import { isSameTerms, parseTerms } from './price-terms.ts';
import type { TermsEntry } from './price-terms.ts';

const VIDEO: TermsEntry = { per_second: { '768P': '0.08', '2K': '0.13' }, images: { free: 5, each: '0.04' } };

describe('the terms of a price', () => {
  test('are parsed into billionths', () => {
    expect(
      parseTerms({
        ...VIDEO,
        per_input_second: '0.01',
        per_request: '1',
        per_million_tokens: { input: '0.9', output: '3.6' },
        per_million_characters: '15',
        hold: '0.05',
      }),
    ).toEqual({
      perSecond: {
        byResolution: new Map([
          ['768P', 80_000_000n],
          ['2K', 130_000_000n],
        ]),
      },
      perInputSecond: 10_000_000n,
      images: { free: 5n, each: 40_000_000n },
      perRequest: 1_000_000_000n,
      perMillionTokens: { input: 900_000_000n, cachedInput: 900_000_000n, output: 3_600_000_000n },
      perMillionCharacters: 15_000_000_000n,
      hold: 50_000_000n,
    });
  });

  test('may price cached input separately', () => {
    expect(
      parseTerms({ per_million_tokens: { input: '2', output: '8', cached_input: '0.5' } }).perMillionTokens,
    ).toEqual({ input: 2_000_000_000n, cachedInput: 500_000_000n, output: 8_000_000_000n });
  });

  test.each<[string, TermsEntry]>([
    ['order of keys', { images: { each: '0.04', free: 5 }, per_second: { '2K': '0.13', '768P': '0.08' } }],
    [
      'number of trailing zeros',
      { per_second: { '768P': '0.080', '2K': '0.1300' }, images: { free: 5, each: '0.040' } },
    ],
  ])('are equal despite another %s', (_what, other) => {
    expect(isSameTerms(VIDEO, other)).toBe(true);
  });

  test.each<[string, TermsEntry]>([
    ['price', { ...VIDEO, per_second: { '768P': '0.09', '2K': '0.13' } }],
    ['resolution', { ...VIDEO, per_second: { '768P': '0.08' } }],
    ['number of free images', { ...VIDEO, images: { free: 4, each: '0.04' } }],
    ['key that has the price zero', { ...VIDEO, per_request: '0' }],
  ])('differ with another %s', (_what, other) => {
    expect(isSameTerms(VIDEO, other)).toBe(false);
  });

  test('that are not decimals never become a price', () => {
    expect(() => parseTerms({ per_second: 'free' })).toThrow(RangeError);
    expect(() => parseTerms({ per_second: '-1' })).toThrow(RangeError);
  });
});
