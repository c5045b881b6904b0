import type { SqlQuery } from '@reelgate/platform/sql/sql';
import { parseTerms } from '../../domain/price-terms.ts';
import type { PriceTerms, TermsEntry } from '../../domain/price-terms.ts';

const FIND = 'SELECT terms FROM price_contracts WHERE price_key = $1 AND version = $2';
const CACHED_MAX = 1000;

/** The terms of one version of a price contract. */
export type TermsOf = (query: SqlQuery, priceKey: string, version: number) => Promise<PriceTerms>;

/** A version never changes, so it is read and parsed once. A full cache is emptied. */
export function newTermsCache(): TermsOf {
  const cache = new Map<string, Map<number, PriceTerms>>();
  let count = 0;
  const remember = (priceKey: string, version: number, terms: PriceTerms): void => {
    if (count >= CACHED_MAX) {
      cache.clear();
      count = 0;
    }
    cache.set(priceKey, (cache.get(priceKey) ?? new Map<number, PriceTerms>()).set(version, terms));
    count += 1;
  };
  return async (query, priceKey, version) => {
    const cached = cache.get(priceKey)?.get(version);
    if (cached !== undefined) return cached;
    const [row] = await query<{ terms: string }>(FIND, [priceKey, version]);
    if (row === undefined) throw new Error(`version ${version} of the price ${priceKey} does not exist`);
    const terms = parseTerms(JSON.parse(row.terms) as TermsEntry);
    remember(priceKey, version, terms);
    return terms;
  };
}
