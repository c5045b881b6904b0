import type { VNode } from 'preact';
import type { Money } from '../api/money.ts';

/** Decimals of the API have at most this many digits after the point. */
const DIGITS = 9;
const UNIT = 10n ** BigInt(DIGITS);
/** One thousand million of a currency, the largest amount that the books take. */
export const AMOUNT_NANOS_MAX = 1_000_000_000n * UNIT;
const DECIMAL = /^(?<minus>-?)(?<whole>\d+)(?:\.(?<fraction>\d{1,9}))?$/;

/** Parses a decimal to billionths of a unit. Returns undefined for any other text, and for more than nine digits after
 * the point. */
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

/** The share of one amount in another as `−6.4 %`, or undefined if the other amount is zero. */
export function shareText(part: string, whole: string): string | undefined {
  const [partNanos, wholeNanos] = [parseNanos(part), parseNanos(whole)];
  if (partNanos === undefined || wholeNanos === undefined || wholeNanos === 0n) return undefined;
  return `${(Number((partNanos * 10_000n) / wholeNanos) / 100).toFixed(1).replace('-', '−')} %`;
}

const DIGITS_MIN = 2;
const SIGNS: Readonly<Record<string, string>> = { USD: '$', EUR: '€', GBP: '£' };

export function formatMoney({ amount, currency }: Money): string {
  return moneyText(amount, currency);
}

/** Writes a decimal amount as `$0.40` or `0.40 CHF`: at least two digits, and never rounded. */
export function moneyText(amount: string, currency: string): string {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.');
  const digits = fraction.replace(/0+$/, '').padEnd(DIGITS_MIN, '0');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const minus = amount.startsWith('-') ? '−' : '';
  const sign = SIGNS[currency];
  return sign === undefined ? `${minus}${grouped}.${digits} ${currency}` : `${minus}${sign}${grouped}.${digits}`;
}

const STEP = 1024;
const UNITS = ['B', 'KiB', 'MiB', 'GiB'];

/** Writes `812 B`, `4.2 MiB`. */
export function bytesText(bytes: number): string {
  const unit = bytes < STEP ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(STEP)));
  const value = bytes / STEP ** unit;
  return `${unit === 0 ? String(bytes) : value.toFixed(1)} ${UNITS[unit] ?? ''}`;
}

/** Writes a whole number as `48,122`. */
export function formatCount(count: string | number): string {
  return Number(count).toLocaleString('en');
}

/** An amount; what is below zero is red beside its sign. */
export function AmountText({ money: { amount, currency } }: { money: Money }): VNode {
  return <span class={amount.startsWith('-') ? 'bad' : undefined}>{moneyText(amount, currency)}</span>;
}
