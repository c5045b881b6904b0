import { formatAmount, parseAmount } from './money.ts';
import type { Nanos } from './money.ts';
import { TOKEN_RATES, TOKEN_RATE_NAMES } from './token-rates.ts';
import type { TokenKey, TokenRate } from './token-rates.ts';

/** The terms of a price contract as the configuration spells them. Every string is a decimal. */
export interface TermsEntry {
  readonly per_second?: string | Readonly<Record<string, string>>;
  readonly per_input_second?: string;
  readonly images?: { readonly free: number; readonly each: string };
  readonly per_request?: string;
  readonly per_million_tokens?: TokensEntry;
  readonly per_million_characters?: string;
  readonly per_search?: string;
  readonly hold?: string;
}

type TokensEntry = { readonly [key in TokenKey]?: string } & { readonly input: string; readonly output: string };

/** One price of a second, or one for each resolution. */
export type SecondPrices = { readonly every: Nanos } | { readonly byResolution: ReadonlyMap<string, Nanos> };

/** The prices of a contract, in billionths. A quantity without a price is free. */
export interface PriceTerms {
  readonly perSecond: SecondPrices | undefined;
  /** The price of a second of reference video, undefined if it is the price of a second of output. */
  readonly perInputSecond: Nanos | undefined;
  readonly images: { readonly free: bigint; readonly each: Nanos };
  readonly perRequest: Nanos;
  readonly perMillionTokens: TokenPrices | undefined;
  readonly perMillionCharacters: Nanos;
  readonly perSearch: Nanos;
  /** The amount that replaces unknown tokens, or unknown seconds if tokens have no price. */
  readonly hold: Nanos | undefined;
}

/** A part without a price of its own has the price that replaces it. */
export type TokenPrices = Readonly<Record<TokenRate, Nanos>>;

export function parseTerms(entry: TermsEntry): PriceTerms {
  const { per_second: perSecond, images, per_million_tokens: tokens } = entry;
  return {
    perSecond: perSecond === undefined ? undefined : parseSeconds(perSecond),
    perInputSecond: parseOptionalPrice(entry.per_input_second),
    images:
      images === undefined ? { free: 0n, each: 0n } : { free: BigInt(images.free), each: parsePrice(images.each) },
    perRequest: parseOptionalPrice(entry.per_request) ?? 0n,
    perMillionTokens: tokens === undefined ? undefined : parseTokens(tokens),
    perMillionCharacters: parseOptionalPrice(entry.per_million_characters) ?? 0n,
    perSearch: parseOptionalPrice(entry.per_search) ?? 0n,
    hold: parseOptionalPrice(entry.hold),
  };
}

/**
 * Reports whether two entries have the same prices. The order of keys and trailing zeros of decimals do not matter.
 */
export function isSameTerms(left: TermsEntry, right: TermsEntry): boolean {
  return toCanonicalText(left) === toCanonicalText(right);
}

function parseTokens(tokens: TokensEntry): TokenPrices {
  const prices = TOKEN_RATE_NAMES.map((name) => {
    const key = TOKEN_RATES[name].keys.find((one) => tokens[one] !== undefined) ?? TOKEN_RATES[name].side;
    return [name, parsePrice(tokens[key] ?? '0')] as const;
  });
  return Object.fromEntries(prices) as Record<TokenRate, Nanos>;
}

function parseSeconds(prices: string | Readonly<Record<string, string>>): SecondPrices {
  if (typeof prices === 'string') return { every: parsePrice(prices) };
  return {
    byResolution: new Map(Object.entries(prices).map(([resolution, price]) => [resolution, parsePrice(price)])),
  };
}

function parseOptionalPrice(text: string | undefined): Nanos | undefined {
  return text === undefined ? undefined : parsePrice(text);
}

/** The configuration has been checked, so a bad decimal here is a bug. */
function parsePrice(text: string): Nanos {
  const amount = parseAmount(text);
  if (amount === undefined || amount < 0n) throw new RangeError(`not a price: ${text}`);
  return amount;
}

function toCanonicalText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(formatAmount(parsePrice(value)));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${toCanonicalText(inner)}`).join(',')}}`;
}
