/** A filter of a list: what its field takes, and the most characters of a text. */
export type Filter = { readonly type: 'select' | 'date' } | { readonly type: 'text' | 'search'; readonly most: number };
export type Filters = Readonly<Record<string, Filter>>;

/** The names of the filters of one type. */
export type FilterOf<F extends Filters, T extends Filter['type']> = {
  [K in keyof F]: F[K]['type'] extends T ? K : never;
}[keyof F] &
  string;

/** The values of the filters that take a text, undefined where a filter is not set. */
export type TextFilters<F extends Filters> = { readonly [K in FilterOf<F, 'text'>]?: string | undefined };
