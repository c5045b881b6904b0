/** Billionths of a currency unit. */
export type Nanos = bigint;

const NANOS_PER_UNIT = 1_000_000_000n;
const PLACES = 9;
const DECIMAL = /^(-?)(\d{1,10})(?:\.(\d{1,9}))?$/;

/** One thousand million of the currency: no single amount is larger, so the sums of a few always fit 64 bits. */
export const AMOUNT_NANOS_MAX: Nanos = 1_000_000_000n * NANOS_PER_UNIT;
/** No running total goes beyond this, up or down. */
export const TOTAL_NANOS_MAX: Nanos = 4n * AMOUNT_NANOS_MAX;

/** The amount of `12`, `0.08` or `-3.5`; undefined for anything else, for more than nine places, and beyond the largest amount. */
export function parseAmount(text: string): Nanos | undefined {
  const [, sign, units, places = ''] = DECIMAL.exec(text) ?? [];
  if (units === undefined) return undefined;
  const size = BigInt(units) * NANOS_PER_UNIT + BigInt(places.padEnd(PLACES, '0'));
  if (size > AMOUNT_NANOS_MAX) return undefined;
  return sign === '-' ? -size : size;
}

/** As a decimal without trailing zeros. */
export function formatAmount(nanos: Nanos): string {
  const size = nanos < 0n ? -nanos : nanos;
  const places = String(size % NANOS_PER_UNIT)
    .padStart(PLACES, '0')
    .replace(/0+$/, '');
  return `${nanos < 0n ? '-' : ''}${String(size / NANOS_PER_UNIT)}${places === '' ? '' : `.${places}`}`;
}

/** A quotient of what is not negative, rounded up. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
