/** The refusals of a channel in a row, and for how long each holds the channel. */
export interface RefusalsInRow {
  /**
   * Adds a refusal of an order of this account. Returns the milliseconds for which the channel is left alone. `isSure`:
   * no order can have caused it, such as a connection that could not be opened.
   */
  add(accountId: string, isSure?: boolean): number;
  /** The channel has taken an order. */
  clear(): void;
}

/**
 * Each refusal in a row holds the channel twice as long, once two accounts were refused. The orders of one account alone
 * may cause any number of them, so they hold it for the shortest time each.
 */
export function newRefusalsInRow({ minMs, maxMs }: { readonly minMs: number; readonly maxMs: number }): RefusalsInRow {
  /** Two are enough to know that there are several. */
  const accounts = new Set<string>();
  let times = 0;
  return {
    add: (accountId, isSure = false) => {
      if (accounts.size < 2) accounts.add(accountId);
      const doublings = isSure || accounts.size > 1 ? times : 0;
      times += 1;
      return Math.min(minMs * 2 ** doublings, maxMs);
    },
    clear: () => {
      accounts.clear();
      times = 0;
    },
  };
}
