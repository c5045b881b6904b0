/** The state of a round of the check. */
export interface LedgerRound {
  readonly after: string;
  /** Faulty events that the round has found. */
  readonly faults: number;
}

export const NEW_ROUND: LedgerRound = { after: '', faults: 0 };

export interface LedgerPage {
  readonly round: LedgerRound;
  readonly isLast: boolean;
  /** Faulty events among the newest ones of tasks. */
  readonly newestFaults: number;
}

/** Checks the newest events of tasks, and the next page of a round over all events. */
export type CheckLedgerPage = (round: LedgerRound) => Promise<LedgerPage>;
