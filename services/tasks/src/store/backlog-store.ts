/** The number of what waits, and the time since which the oldest waits. */
export interface WaitingCount {
  /** Up to a maximum. */
  readonly count: number;
  /** Undefined: nothing waits. */
  readonly oldest: number | undefined;
}

/** Numbers over all tasks. They are read from indexes that hold only what waits or runs, which the limits bound. */
export interface BacklogStore {
  /** Unfinished tasks by their channel and their state. The channel is undefined before the first attempt. */
  openTasks(): Promise<
    readonly { readonly channel: string | undefined; readonly state: string; readonly count: number }[]
  >;
  /** Since when the oldest due task of each channel has waited for its poll. A task that is being polled does not. */
  dueSince(channels: readonly string[], now: number): Promise<ReadonlyMap<string, number>>;
  countAttention(): Promise<WaitingCount>;
  /** The ended tasks whose money is not settled, and when the first of them ended. */
  countUnsettled(): Promise<WaitingCount>;
}
