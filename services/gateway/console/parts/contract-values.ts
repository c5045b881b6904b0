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

/** Returns a message that the contract lets be absent and that this answer always has. */
export function requireValue<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a part of an answer is missing');
  return value;
}

/** The word of a value of an enum, such as `own_limit` for `TOKEN_WAIT_OWN_LIMIT`. Answers have no unspecified value. */
export type WordOf<V, P extends string> = V extends `${P}${infer W}` ? Exclude<Lowercase<W>, 'unspecified'> : never;

export function readWord<P extends string, V extends string>(prefix: P, value: V): WordOf<V, P> {
  return value.slice(prefix.length).toLowerCase() as WordOf<V, P>;
}

/** The value of an enum by its word. */
export function toEnumName<P extends string, W extends string>(prefix: P, word: W): `${P}${Uppercase<W>}` {
  return `${prefix}${word.toUpperCase() as Uppercase<W>}`;
}
