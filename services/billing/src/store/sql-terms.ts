import type { SqlQuery } from '@reelgate/platform/sql';
import { parseTerms } from '../domain/price-terms.ts';
import type { PriceTerms, TermsEntry } from '../domain/price-terms.ts';

const FIND = 'SELECT terms FROM price_contracts WHERE price_key = $1 AND version = $2';
const KNOWN_MAX = 1000;

/** The terms of a version of a contract that something was held under. */
export type TermsOf = (query: SqlQuery, priceKey: string, version: number) => Promise<PriceTerms>;

/** A version never changes, so it is read and understood once; the oldest of many are forgotten. */
export function rememberedTerms(): TermsOf {
  const known = new Map<string, PriceTerms>();
  return async (query, priceKey, version) => {
    const name = `${priceKey} ${String(version)}`;
    const remembered = known.get(name);
    if (remembered !== undefined) return remembered;
    const [row] = await query<{ terms: string }>(FIND, [priceKey, version]);
    if (row === undefined) throw new Error(`version ${String(version)} of ${priceKey} is not there`);
    const terms = parseTerms(JSON.parse(row.terms) as TermsEntry);
    for (const oldest of known.keys()) {
      if (known.size < KNOWN_MAX) break;
      known.delete(oldest);
    }
    known.set(name, terms);
    return terms;
  };
}
