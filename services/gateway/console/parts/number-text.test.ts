import { expect, test } from '@jest/globals';
import { formatDecimal, parseNanos, shareText, sumDecimals } from './number-text.tsx';

test.each([
  ['0', 0n],
  ['0.40', 400_000_000n],
  ['-12.000000001', -12_000_000_001n],
  ['9007199254740993.5', 9_007_199_254_740_993_500_000_000n],
  ['', undefined],
  ['1.', undefined],
  ['.5', undefined],
  ['1e3', undefined],
  ['1,50', undefined],
  ['0.0000000001', undefined],
])('%j is %p billionths', (decimal, nanos) => {
  expect(parseNanos(decimal)).toBe(nanos);
});

test.each(['0', '0.4', '-0.000000001', '9007199254740993.5'])('%j is written as it was read', (decimal) => {
  expect(formatDecimal(parseNanos(decimal) ?? 0n)).toBe(decimal);
});

test('a sum is exact', () => {
  expect(sumDecimals(['0.1', '0.2', '-0.05'])).toBe('0.25');
});

test.each([
  ['559.5', '2800', '20.0 %'],
  ['-20.62', '320.4', '−6.4 %'],
  ['1', '0', undefined],
])('%s of %s is %p', (part, whole, share) => {
  expect(shareText(part, whole)).toBe(share);
});
