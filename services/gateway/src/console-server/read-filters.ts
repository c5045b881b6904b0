import type { FilterOf, Filters, TextFilters } from '../../console/filters.ts';
import { invalid } from '../dialects/wire/body-validator.ts';

/** The texts that the filters of a page set. It has no values if the question of its list lacks one of them. */
export type TextsOf<Q, F extends Filters> = FilterOf<F, 'text'> extends keyof Q ? TextFilters<F> : never;

/** The texts of the filters that take one. */
export function readTextFilters<F extends Filters>(query: URLSearchParams, filters: F): TextFilters<F> {
  const texts = Object.entries(filters).flatMap(([name, filter]) =>
    filter.type === 'text' ? [[name, readTextFilter(query, name, filter.most)] as const] : [],
  );
  return Object.fromEntries(texts) as TextFilters<F>;
}

/** Reads the text of a filter, or undefined if it is not set. */
export function readTextFilter(query: URLSearchParams, name: string, charactersMax: number): string | undefined {
  const text = query.get(name)?.trim() ?? '';
  if (text.length > charactersMax || text.includes('\0'))
    throw invalid(name, `must have at most ${charactersMax} characters`, 'invalid_request');
  return text === '' ? undefined : text;
}
