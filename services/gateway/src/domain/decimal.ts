const NANO_DIGITS = 9;
const NANOS = 10n ** BigInt(NANO_DIGITS);
/** One thousand million of a currency, the largest amount that the books take. */
const AMOUNT_NANOS_MAX = 1_000_000_000n * NANOS;
const DECIMAL = /^(-?)(\d{1,10})(?:\.(\d{1,9}))?$/;

/** Formats billionths as a decimal number without trailing zeros. */
export function formatDecimal(nanos: bigint): string {
  const digits = (nanos < 0n ? -nanos : nanos).toString().padStart(NANO_DIGITS + 1, '0');
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, '');
  return `${nanos < 0n ? '-' : ''}${digits.slice(0, -NANO_DIGITS)}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * Parses a decimal number such as `0.40` or `-3.5` to billionths. Returns undefined if the text is no such number,
 * has more than nine digits after the point, or is larger than the books take.
 */
export function parseNanos(decimal: string): bigint | undefined {
  const [, sign, units, fraction = ''] = DECIMAL.exec(decimal) ?? [];
  if (units === undefined) return undefined;
  const nanos = BigInt(units) * NANOS + BigInt(fraction.padEnd(NANO_DIGITS, '0'));
  if (nanos > AMOUNT_NANOS_MAX) return undefined;
  return sign === '-' ? -nanos : nanos;
}

/** A number of JSON with more digits may be another decimal than the one that was written. */
const NUMBER_DIGITS_MAX = 15;
const NUMBER = /^-?\d+(?:\.\d{1,9})?$/;

/**
 * Formats a number of JSON as the decimal that its sender wrote. Returns undefined if it has more than 15 digits or more
 * than nine after the point.
 */
export function formatNumber(value: number): string | undefined {
  const shortest = String(value);
  // a small number has an exponent
  const text = shortest.includes('e') ? value.toFixed(NANO_DIGITS).replace(/0+$/, '') : shortest;
  const digits = text.replace(/[-.]/g, '').replace(/^0+/, '');
  return NUMBER.test(text) && digits.length <= NUMBER_DIGITS_MAX && Number(text) === value ? text : undefined;
}
