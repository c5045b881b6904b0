import type { SearchHit } from '../../src/domain/search-hit.ts';

export type { FoundKind, FoundWay, SearchHit } from '../../src/domain/search-hit.ts';

/** GET /search. Query: `q`. */
export interface SearchAnswer {
  readonly found: readonly SearchHit[];
  /** The page to go to at once: the one thing that has the id. */
  readonly href?: string;
  /** Places that could not be searched now. */
  readonly unavailable: readonly ('tasks' | 'accounts' | 'tokens' | 'channels' | 'words')[];
}
