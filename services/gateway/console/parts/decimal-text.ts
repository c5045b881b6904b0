/** Decimals of the API have at most this many digits after the point. */
const DIGITS = 9;
const UNIT = 10n ** BigInt(DIGITS);
const DECIMAL = /^(?<minus>-?)(?<whole>\d+)(?:\.(?<fraction>\d{1,9}))?$/;

/** Billionths of a unit; undefined: the text is no decimal with at most nine digits after the point. */
export function parseNanos(decimal: string): bigint | undefined {
  const { minus = '', whole = '', fraction = '' } = DECIMAL.exec(decimal)?.groups ?? {};
  if (whole === '') return undefined;
  const nanos = BigInt(whole) * UNIT + BigInt(fraction.padEnd(DIGITS, '0'));
  return minus === '' ? nanos : -nanos;
}

export function formatDecimal(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % UNIT).toString().padStart(DIGITS, '0').replace(/0+$/, '');
  const whole = `${nanos < 0n ? '-' : ''}${(size / UNIT).toString()}`;
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The exact sum of decimals of the API. */
export function sumDecimals(decimals: readonly string[]): string {
  return formatDecimal(decimals.reduce((sum, decimal) => sum + (parseNanos(decimal) ?? 0n), 0n));
}

/** The share of one amount in another as `−6.4 %`; undefined: there is none of nothing. */
export function shareText(part: string, whole: string): string | undefined {
  const [partNanos, wholeNanos] = [parseNanos(part), parseNanos(whole)];
  if (partNanos === undefined || wholeNanos === undefined || wholeNanos === 0n) return undefined;
  return `${(Number((partNanos * 10_000n) / wholeNanos) / 100).toFixed(1).replace('-', '−')} %`;
}
