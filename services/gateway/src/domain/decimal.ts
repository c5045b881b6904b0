const NANO_DIGITS = 9;

/** Billionths as a decimal number without trailing zeros. */
export function decimalOf(nanos: bigint): string {
  const digits = (nanos < 0n ? -nanos : nanos).toString().padStart(NANO_DIGITS + 1, '0');
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, '');
  return `${nanos < 0n ? '-' : ''}${digits.slice(0, -NANO_DIGITS)}${fraction === '' ? '' : `.${fraction}`}`;
}
