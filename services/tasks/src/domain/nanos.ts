const AMOUNT = /^(\d{1,9})(?:\.(\d{1,9}))?$/;
const DECIMALS = 9;

/** Reads an amount such as `12.50` as billionths. Returns undefined if the text is not an amount. */
export function parseNanos(text: string): bigint | undefined {
  const match = AMOUNT.exec(text);
  if (match === null) return undefined;
  const [, whole = '0', decimals = ''] = match;
  return BigInt(whole + decimals.padEnd(DECIMALS, '0'));
}
