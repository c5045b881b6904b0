import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AMOUNT_NANOS_MAX, divideUp, formatAmount, parseAmount } from './money.ts';

const anyAmount = fc.bigInt({ min: -AMOUNT_NANOS_MAX, max: AMOUNT_NANOS_MAX });

describe('an amount', () => {
  test.each([
    ['0', 0n],
    ['1', 1_000_000_000n],
    ['0.08', 80_000_000n],
    ['0.000000001', 1n],
    ['100.00', 100_000_000_000n],
    ['-3.5', -3_500_000_000n],
    ['-0', 0n],
    ['1000000000', AMOUNT_NANOS_MAX],
    ['007', 7_000_000_000n],
  ])('is parsed from %s', (text, nanos) => {
    expect(parseAmount(text)).toBe(nanos);
  });

  test.each([
    '',
    ' 1',
    '1 ',
    '+1',
    '.5',
    '5.',
    '1,5',
    '1e3',
    '0x10',
    '0.0000000001',
    '1000000000.000000001',
    '99999999999',
    'NaN',
    '１',
    '--1',
  ])('is not parsed from "%s"', (text) => {
    expect(parseAmount(text)).toBeUndefined();
  });

  test.each([
    [0n, '0'],
    [1n, '0.000000001'],
    [80_000_000n, '0.08'],
    [100_000_000_000n, '100'],
    [-1n, '-0.000000001'],
    [-3_500_000_000n, '-3.5'],
  ])('%s is written as %s', (nanos, text) => {
    expect(formatAmount(nanos)).toBe(text);
  });

  test('stays the same when it is written and parsed again', () => {
    fc.assert(
      fc.property(anyAmount, (nanos) => {
        expect(parseAmount(formatAmount(nanos))).toBe(nanos);
      }),
    );
  });

  test('is written without trailing zeros', () => {
    fc.assert(
      fc.property(anyAmount, (nanos) => {
        expect(formatAmount(nanos)).toMatch(/^-?(0|[1-9]\d*)(\.\d{0,8}[1-9])?$/);
      }),
    );
  });
});

test('a quotient is rounded up by less than one unit', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 30n }),
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      (dividend, divisor) => {
        const quotient = divideUp(dividend, divisor);

        expect(quotient * divisor).toBeGreaterThanOrEqual(dividend);
        expect((quotient - 1n) * divisor).toBeLessThan(dividend);
      },
    ),
  );
});
