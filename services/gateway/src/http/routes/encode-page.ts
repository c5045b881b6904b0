/** Encodes a page of a list in the shape of OpenAI. */
export function encodePage<T extends { readonly id: string }>(
  entries: readonly T[],
  hasMore: boolean,
  encode: (entry: T) => object,
): object {
  return {
    object: 'list',
    data: entries.map(encode),
    first_id: entries[0]?.id ?? null,
    last_id: entries.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
