import { describe, expect, test } from '@jest/globals';
import { formatAmount } from './money.ts';
import { isSameTerms, parseTerms } from './price-terms.ts';
import type { TermsEntry } from './price-terms.ts';
import type { TokenRate } from './token-rates.ts';

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
        per_search: '0.01',
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
      perMillionTokens: {
        input: 900_000_000n,
        cachedInput: 900_000_000n,
        cachedAudio: 900_000_000n,
        cachedImage: 900_000_000n,
        cacheWrite: 900_000_000n,
        cacheWrite1h: 900_000_000n,
        audioInput: 900_000_000n,
        imageInput: 900_000_000n,
        output: 3_600_000_000n,
        reasoning: 3_600_000_000n,
        audioOutput: 3_600_000_000n,
        imageOutput: 3_600_000_000n,
      },
      perMillionCharacters: 15_000_000_000n,
      perSearch: 10_000_000n,
      hold: 50_000_000n,
    });
  });

  const own = {
    cached_input: '3',
    cached_audio_input: '4',
    cached_image_input: '5',
    cache_write: '6',
    cache_write_1h: '7',
    audio_input: '8',
    image_input: '9',
    reasoning: '10',
    audio_output: '11',
    image_output: '12',
  } as const;

  test.each<[TokenRate, keyof typeof own, instead: readonly (keyof typeof own)[], whole: string]>([
    ['cachedInput', 'cached_input', [], '1'],
    ['cachedAudio', 'cached_audio_input', ['cached_input', 'audio_input'], '1'],
    ['cachedImage', 'cached_image_input', ['cached_input', 'image_input'], '1'],
    ['cacheWrite', 'cache_write', [], '1'],
    ['cacheWrite1h', 'cache_write_1h', ['cache_write'], '1'],
    ['audioInput', 'audio_input', [], '1'],
    ['imageInput', 'image_input', [], '1'],
    ['reasoning', 'reasoning', [], '2'],
    ['audioOutput', 'audio_output', [], '2'],
    ['imageOutput', 'image_output', [], '2'],
  ])('price %s by %s, or else by what replaces it', (rate, key, instead, whole) => {
    const priceWith = (keys: readonly (keyof typeof own)[]): string => {
      const tokens = { input: '1', output: '2', ...Object.fromEntries(keys.map((one) => [one, own[one]])) };
      return formatAmount(parseTerms({ per_million_tokens: tokens }).perMillionTokens![rate]);
    };

    expect(priceWith([key, ...instead])).toBe(own[key]);
    for (const [index, replacing] of instead.entries()) expect(priceWith(instead.slice(index))).toBe(own[replacing]);
    expect(priceWith([])).toBe(whole);
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
