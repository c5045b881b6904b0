import { ANNOTATIONS, collectAnnotations, mapAnnotations } from '../../domain/annotations.ts';
import type { Annotations } from '../../domain/annotations.ts';
import type { QueryParameter } from '../dialect.ts';
import { invalid } from './body-validator.ts';

/** Reads a whole number of a query within bounds. Returns the default if it is absent. */
export function readWholeNumber(
  query: URLSearchParams,
  name: string,
  bounds: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const text = query.get(name);
  if (text === null || text === '') return bounds.fallback;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  throw invalid(name, `must be a whole number from ${bounds.min} to ${bounds.max}`, 'invalid_request');
}

/** Reads a word of a query and returns its value; undefined if the word is absent. */
export function readEnumValue<T>(
  query: URLSearchParams,
  name: string,
  words: Readonly<Record<string, T>>,
): T | undefined {
  const word = readEnumName(query, name, words);
  return word === undefined ? undefined : words[word];
}

/** Reads a word of a query; undefined if the word is absent. */
export function readEnumName<W extends string>(
  query: URLSearchParams,
  name: string,
  words: Readonly<Record<W, unknown>>,
): W | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const known = Object.keys(words) as W[];
  const found = known.find((word) => word === text);
  if (found === undefined) throw invalid(name, `must be one of ${known.join(', ')}`, 'invalid_request');
  return found;
}

/** The parameters of a list that annotations filter. */
export const ANNOTATION_PARAMETERS: readonly QueryParameter[] = Object.entries(
  mapAnnotations(({ forLists, pattern }) => ({
    description: forLists,
    schema: { type: 'string', pattern: pattern.source } as const,
  })),
).map(([name, parameter]) => ({ name, ...parameter }));

/** Reads the annotations by which a list is filtered. */
export function readAnnotations(query: URLSearchParams): Annotations {
  return collectAnnotations((name) => {
    const value = query.get(name) ?? undefined;
    const { pattern, rule } = ANNOTATIONS[name];
    if (value === undefined || pattern.test(value)) return value;
    throw invalid(name, rule);
  });
}
