import type { Act } from '../../domain/act.ts';

/** An act as it was written. */
export type StoredAct = Omit<Act, 'action' | 'detail'> & {
  readonly action: string;
  /** A JSON object. */
  readonly detailJson: string;
};

export interface ActQuery {
  readonly limit: number;
  /** Only acts before this one; empty: from the newest. */
  readonly after: string;
  /** Only acts over this subject; empty: all. */
  readonly subject: string;
}

export interface ActStore {
  /** The newest first. */
  list(query: ActQuery): Promise<readonly StoredAct[]>;
  /** Removes acts of before this time, the oldest first. Gives how many. */
  remove(before: number, limit: number): Promise<number>;
}
