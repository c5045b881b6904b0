import type { Money } from '../api/money.ts';

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
