import type { Money } from '../api/money.ts';
import { formatDecimal, moneyText } from './number-text.tsx';

/** Reads a time of the contracts as milliseconds since 1970. */
export function readTime(iso: string): number;
export function readTime(iso: string | undefined): number | undefined;
export function readTime(iso: string | undefined): number | undefined {
  return iso === undefined ? undefined : Date.parse(iso);
}

/** Writes billionths of a currency unit as `$0.40` or `0.40 CHF`. */
export function formatNanos(nanos: string | bigint, currency: string): string {
  return moneyText(formatDecimal(BigInt(nanos)), currency);
}

/** Converts billionths of a currency unit to a decimal amount. */
export function toMoney(nanos: string | bigint, currency: string): Money {
  return { amount: formatDecimal(BigInt(nanos)), currency };
}
