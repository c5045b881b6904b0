import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { priceFacts } from '../../testing/facts.ts';
import { formatAmount } from './money.ts';
import { computeAmount } from './price.ts';
import { parseTerms } from './price-terms.ts';
import type { TermsEntry } from './price-terms.ts';
import { listUnitPrices } from './unit-prices.ts';
import type { PriceUnit, UnitPrices } from './unit-prices.ts';

const write = (sheet: UnitPrices | undefined) =>
  sheet?.prices.map(({ unit, resolution, free, amount }) =>
    [unit, resolution, free === 0n ? '' : `after ${free}`, formatAmount(amount)]
      .filter((part) => part !== '')
      .join(' '),
  );

describe('the prices of units', () => {
  test.each<[string, TermsEntry, string[], string[], string[]]>([
    [
      'of each resolution, with free images',
      { per_second: { '768P': '0.08', '2K': '0.13' }, images: { free: 5, each: '0.04' } },
      ['768P', '2K', '4K'],
      ['768P', '2K'],
      [
        'output_second 768P 0.08',
        'input_second 768P 0.08',
        'output_second 2K 0.13',
        'input_second 2K 0.13',
        'input_image after 5 0.04',
      ],
    ],
    ['of a free order', { per_second: '0' }, ['2K'], ['2K'], ['output_second 2K 0']],
    [
      'of an order without a resolution',
      { per_second: { '2K': '0.05' }, per_input_second: '0' },
      [],
      [],
      ['output_second 0.05'],
    ],
    [
      'of tokens, and of what is held for them',
      { per_million_tokens: { input: '0.90', output: '3.60' }, hold: '0.05' },
      [],
      [],
      ['million_input_tokens 0.9', 'million_output_tokens 3.6', 'hold 0.05'],
    ],
    ['of a request', { per_request: '0.5' }, ['2K'], ['2K'], ['request 0.5']],
  ])('%s', (_what, entry, asked, resolutions, prices) => {
    const sheet = listUnitPrices(parseTerms(entry), asked);

    expect(sheet?.resolutions).toEqual(resolutions);
    expect(write(sheet)).toEqual(prices);
  });
  test.each<[string, TermsEntry, string[]]>([
    ['no resolution has one', { per_second: { '2K': '0.05' } }, ['768P']],
    ['the tokens of an order are not known before', { per_million_tokens: { input: '1', output: '1' } }, ['2K']],
  ])('there are none if %s', (_what, entry, asked) => {
    expect(listUnitPrices(parseTerms(entry), asked)).toBeUndefined();
  });
});

const price = fc.bigInt({ min: 0n, max: 10n ** 10n }).map(formatAmount);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const terms = fc.record({
  per_second: optional(fc.oneof(price, fc.dictionary(fc.constantFrom('768P', '2K'), price, { minKeys: 1 }))),
  per_input_second: optional(price),
  images: optional(fc.record({ free: fc.nat({ max: 4 }), each: price })),
  per_request: optional(price),
  per_million_tokens: optional(fc.record({ input: price, output: price })),
  hold: optional(price),
});
const count = fc.bigInt({ min: 0n, max: 9n });

test('the sum of unit prices over an order is its amount, and only an order without an amount has none', () => {
  fc.assert(
    fc.property(
      terms,
      fc.constantFrom('768P', '2K', ''),
      fc.tuple(count, count, count),
      (entry, resolution, counts) => {
        const [seconds, inputVideoSeconds, images] = [counts[0] + 1n, counts[1], counts[2]];
        const parsed = parseTerms(JSON.parse(JSON.stringify(entry)) as TermsEntry);
        const amount = computeAmount(parsed, priceFacts({ resolution, seconds, inputVideoSeconds, images }));
        const quantities: Readonly<Partial<Record<PriceUnit, bigint>>> = {
          output_second: seconds,
          input_second: inputVideoSeconds,
          input_image: images,
          request: 1n,
          hold: 1n,
        };

        const sheet = listUnitPrices(parsed, resolution === '' ? [] : [resolution]);

        if (sheet === undefined) expect(typeof amount).toBe('string');
        else
          expect(
            sheet.prices.reduce((sum, { unit, free, amount: each }) => {
              const charged = (quantities[unit] ?? 0n) - free;
              return charged > 0n ? sum + each * charged : sum;
            }, 0n),
          ).toBe(amount);
      },
    ),
  );
});
