/** A decision of an operator on work with an unknown outcome. */
export type Resolution = 'completed' | 'failed' | 'retry';

/** An entry of the history as it is stored. */
export interface HistoryEntry {
  readonly at: number;
  readonly type: string;
  readonly detail: unknown;
}

/** A failure at a channel. */
export interface ChannelFailureRow {
  readonly at: number;
  /** attempt, poll or task. */
  readonly kind: string;
  readonly taskId: string;
  readonly error: string;
}

/** A check of the ledger. */
export interface LedgerCheck {
  readonly at: number;
  readonly tookMs: number;
  readonly ok: boolean;
  readonly entries: number;
  readonly faults: readonly string[];
  readonly actor: string;
}

/** A version of a price contract. */
export interface ContractRow {
  readonly key: string;
  readonly version: number;
  readonly since: number;
  readonly isCurrent: boolean;
  readonly terms: unknown;
}
