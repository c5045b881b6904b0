/** Billionths of a currency unit. */
export type Nanos = bigint;

const NANOS_PER_UNIT = 1_000_000_000n;
const PLACES = 9;
const DECIMAL = /^(-?)(\d{1,10})(?:\.(\d{1,9}))?$/;

/** The largest amount, one thousand million of the currency. The sum of a few amounts always fits 64 bits. */
export const AMOUNT_NANOS_MAX: Nanos = 1_000_000_000n * NANOS_PER_UNIT;
/** The largest running total, positive or negative. */
export const TOTAL_NANOS_MAX: Nanos = 4n * AMOUNT_NANOS_MAX;

/**
 * Parses an amount such as `12`, `0.08` or `-3.5`. Returns undefined if the text is not a decimal, has more than nine
 * places, or exceeds the largest amount.
 */
export function parseAmount(text: string): Nanos | undefined {
  const [, sign, units, places = ''] = DECIMAL.exec(text) ?? [];
  if (units === undefined) return undefined;
  const size = BigInt(units) * NANOS_PER_UNIT + BigInt(places.padEnd(PLACES, '0'));
  if (size > AMOUNT_NANOS_MAX) return undefined;
  return sign === '-' ? -size : size;
}

/** A decimal without trailing zeros. */
export function formatAmount(nanos: Nanos): string {
  const size = nanos < 0n ? -nanos : nanos;
  const places = String(size % NANOS_PER_UNIT)
    .padStart(PLACES, '0')
    .replace(/0+$/, '');
  return `${nanos < 0n ? '-' : ''}${size / NANOS_PER_UNIT}${places === '' ? '' : `.${places}`}`;
}

/** The quotient of two numbers that are not negative, rounded up. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

const INT64_MAX = 2n ** 63n - 1n;

/** A sum over all accounts may leave 64 bits. */
export function clampToInt64(sum: bigint): bigint {
  if (sum > INT64_MAX) return INT64_MAX;
  return sum < -INT64_MAX ? -INT64_MAX : sum;
}
