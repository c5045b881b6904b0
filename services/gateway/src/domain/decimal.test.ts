import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatDecimal, formatNumber, parseNanos } from './decimal.ts';

test.each([
  [0n, '0'],
  [1n, '0.000000001'],
  [400_000_000n, '0.4'],
  [1_300_000_000n, '1.3'],
  [100_000_000_000n, '100'],
  [-50_000_000n, '-0.05'],
  [1_000_000_001n, '1.000000001'],
])('%s billionths are %s', (nanos, text) => {
  expect(formatDecimal(nanos)).toBe(text);
});

test('a decimal is exact and has no trailing zeros', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), (nanos) => {
      const [whole = '', places = ''] = formatDecimal(nanos).split('.');

      expect(BigInt(whole) * 10n ** 9n + BigInt(places.padEnd(9, '0'))).toBe(nanos);
      expect(places.endsWith('0')).toBe(false);
    }),
  );
});

test('a decimal is read back exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (nanos) => {
      expect(parseNanos(formatDecimal(nanos))).toBe(nanos);
    }),
  );
});

test.each([
  ['0.40', 400_000_000n],
  ['-3.5', -3_500_000_000n],
  ['0012', 12_000_000_000n],
])('%s is read', (text, nanos) => {
  expect(parseNanos(text)).toBe(nanos);
});

test.each(['', '.5', '5.', '+1', '1e3', '1,5', ' 1', '0x1', '0.0000000001', '1000000000.1', '--1', '١'])(
  '%j is no amount',
  (text) => {
    expect(parseNanos(text)).toBeUndefined();
  },
);

test.each([
  [0.4, '0.4'],
  [0.1, '0.1'],
  [40, '40'],
  [0, '0'],
  [-1.5, '-1.5'],
  [1e-9, '0.000000001'],
  [999_999_999.99, '999999999.99'],
  [123_456.789_012_345, '123456.789012345'],
])('the number %s is the decimal %s', (number, text) => {
  expect(formatNumber(number)).toBe(text);
});

test.each([0.1 + 0.2, 1e-10, 0.1234567891, 123_456_789.123_456_78, 1e21, 1e16, 2 ** 53, Infinity])(
  'the number %s has too many digits to be exact',
  (number) => {
    expect(formatNumber(number)).toBeUndefined();
  },
);

test('a decimal of up to 15 digits is read back from its number exactly', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), fc.integer({ min: 0, max: 9 }), (digits, places) => {
      const nanos = BigInt(digits) * 10n ** BigInt(9 - places);
      const text = formatNumber(Number(formatDecimal(nanos)));

      expect(text).toBe(formatDecimal(nanos));
    }),
  );
});
