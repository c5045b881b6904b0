import { objectSchema } from '../../domain/schema.ts';
import type { Schema } from '../../domain/schema.ts';

const idOrNull = { type: ['string', 'null'] } as const;

/** Builds the schema of a page of a list in the shape of OpenAI. */
export function pageSchema<const Entry extends Schema>(title: string, items: Entry) {
  const members = {
    object: { const: 'list' },
    data: { type: 'array', items },
    first_id: idOrNull,
    last_id: idOrNull,
    has_more: { type: 'boolean' },
  } as const;
  return { title, ...objectSchema(members) };
}

interface Page<E> {
  readonly object: 'list';
  readonly data: readonly E[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Encodes a page of a list in the shape of OpenAI. */
export function encodePage<T extends { readonly id: string }, E>(
  entries: readonly T[],
  hasMore: boolean,
  encode: (entry: T) => E,
): Page<E> {
  return {
    object: 'list',
    data: entries.map(encode),
    first_id: entries[0]?.id ?? null,
    last_id: entries.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
