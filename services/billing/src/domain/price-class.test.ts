import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AMOUNT_NANOS_MAX, formatAmount } from './money.ts';
import { discountTerms, dropClass, parseDiscount, toClassKey } from './price-class.ts';
import { parseTerms } from './price-terms.ts';

test('every price is discounted, and rounded up to a billionth', () => {
  const terms = {
    per_second: { '768P': '0.000000001', '2K': '0.13' },
    per_input_second: '0',
    images: { free: 5, each: '0.04' },
    per_million_tokens: { input: '0.9', output: '3.6' },
    hold: '0.05',
  };

  expect(discountTerms(terms, 300_000_000n)).toEqual({
    per_second: { '768P': '0.000000001', '2K': '0.091' },
    per_input_second: '0',
    images: { free: 5, each: '0.028' },
    per_million_tokens: { input: '0.63', output: '2.52' },
    hold: '0.035',
  });
});

test('a discounted price is never below zero, never above the price, and less than a billionth above the exact one', () => {
  const whole = 1_000_000_000n;
  fc.assert(
    fc.property(fc.bigInt(0n, AMOUNT_NANOS_MAX), fc.bigInt(0n, whole), (price, discount) => {
      const { perRequest } = parseTerms(discountTerms({ per_request: formatAmount(price) }, discount));
      const exact = price * (whole - discount);

      expect(perRequest >= 0n && perRequest <= price).toBe(true);
      expect(perRequest * whole >= exact && perRequest * whole < exact + whole).toBe(true);
    }),
  );
});

test.each([
  ['0', 0n],
  ['0.5', 500_000_000n],
  ['1', 1_000_000_000n],
  ['1.000000001', undefined],
  ['-0.1', undefined],
  ['half', undefined],
])('the discount %s is %s billionths', (text, discount) => {
  expect(parseDiscount(text)).toBe(discount);
});

test.each(['Alpha-H3', 'Alpha-H3__regeneration', 'batch', 'a__batcher'])('%s is found below its class', (key) => {
  expect(dropClass(toClassKey(key, 'batch'))).toBe(key);
  expect(dropClass(key)).toBe(key);
});
