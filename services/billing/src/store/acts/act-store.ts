import type { Act } from '@reelgate/proto/access/v1/act';

export interface ActQuery {
  readonly limit: number;
  /** The act before the page; empty for the first page. */
  readonly after: string;
  /** The subject of the acts; empty for every subject. */
  readonly subject: string;
}

export interface ActStore {
  /** The newest first. */
  list(query: ActQuery): Promise<readonly Act[]>;
  /** Removes acts from before a time, the oldest first. Returns the number of removed acts. */
  remove(before: number, limit: number): Promise<number>;
}
