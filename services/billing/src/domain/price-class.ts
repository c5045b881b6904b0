import { divideUp, formatAmount, parseAmount } from './money.ts';
import type { TermsEntry } from './price-terms.ts';
import { TOKEN_CLASSES } from './token.ts';
import type { TokenQueue } from './token.ts';

/** The class of work that a contract can have prices of its own for. */
export type PriceClass = TokenQueue['class'];

/** The discounts of a contract by class, as the configuration spells them: a decimal from 0 to 1. */
export type ClassDiscounts = Readonly<Partial<Record<PriceClass, string>>>;

const WHOLE = 1_000_000_000n;

/** The key of the contract for the work of a class, such as `Alpha-H3__batch`. */
export function toClassKey(priceKey: string, ofClass: PriceClass): string {
  return `${priceKey}__${ofClass}`;
}

/** The key of the contract for an order with these choices, such as `Alpha-H3__generate_audio_false`. */
export function toChoiceKey(priceKey: string, choices: readonly string[]): string {
  return [priceKey, ...choices].join('__');
}

/** The key without the class that it ends with, if it ends with one. */
export function dropClass(priceKey: string): string {
  const ending = TOKEN_CLASSES.find((ofClass) => priceKey.endsWith(toClassKey('', ofClass)));
  return ending === undefined ? priceKey : priceKey.slice(0, -toClassKey('', ending).length);
}

/** Returns undefined if the text is not a decimal from 0 to 1. */
export function parseDiscount(text: string): bigint | undefined {
  const discount = parseAmount(text);
  return discount === undefined || discount < 0n || discount > WHOLE ? undefined : discount;
}

/**
 * The terms less a discount, in billionths of the whole. Each price is rounded up to a whole billionth, so it is zero
 * only if it was, or the discount is 1, and never more than before.
 */
export function discountTerms(entry: TermsEntry, discount: bigint): TermsEntry {
  return discountPrices(entry, discount) as TermsEntry;
}

/** Every string of the terms is a price. A number is a count, such as the number of free images. */
function discountPrices(value: unknown, discount: bigint): unknown {
  if (typeof value === 'string') return formatAmount(divideUp((parseAmount(value) ?? 0n) * (WHOLE - discount), WHOLE));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, discountPrices(inner, discount)]));
}
