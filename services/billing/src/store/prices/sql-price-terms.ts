import type { SqlQuery } from '@reelgate/platform/sql/sql';
import { parseTerms } from '../../domain/price-terms.ts';
import type { PriceTerms, TermsEntry } from '../../domain/price-terms.ts';

const FIND = 'SELECT terms FROM price_contracts WHERE price_key = $1 AND version = $2';
const KNOWN_MAX = 1000;

/** The terms of a version of a contract that something was held under. */
export type TermsOf = (query: SqlQuery, priceKey: string, version: number) => Promise<PriceTerms>;

/** A version never changes, so it is read and understood once; when there are too many, all are forgotten. */
export function rememberedTerms(): TermsOf {
  const known = new Map<string, Map<number, PriceTerms>>();
  let count = 0;
  const remember = (priceKey: string, version: number, terms: PriceTerms): void => {
    if (count >= KNOWN_MAX) {
      known.clear();
      count = 0;
    }
    known.set(priceKey, (known.get(priceKey) ?? new Map<number, PriceTerms>()).set(version, terms));
    count += 1;
  };
  return async (query, priceKey, version) => {
    const remembered = known.get(priceKey)?.get(version);
    if (remembered !== undefined) return remembered;
    const [row] = await query<{ terms: string }>(FIND, [priceKey, version]);
    if (row === undefined) throw new Error(`version ${String(version)} of ${priceKey} is not there`);
    const terms = parseTerms(JSON.parse(row.terms) as TermsEntry);
    remember(priceKey, version, terms);
    return terms;
  };
}
