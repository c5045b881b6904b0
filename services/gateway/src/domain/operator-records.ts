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
