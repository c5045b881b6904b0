/** What a look through the whole ledger found. */
export interface Audit {
  /** Lines. */
  readonly entries: bigint;
  /** By currency; zero when the books balance. */
  readonly sums: ReadonlyMap<string, bigint>;
  /** What is wrong, one sentence each. */
  readonly faults: readonly string[];
  /** The first of those whose hold has not ended, the oldest first. */
  readonly openHoldTaskIds: readonly string[];
  /** Calls that have not ended, and those of them whose time has been over for longer than the sweep takes. */
  readonly calls: { readonly open: bigint; readonly overdue: bigint };
}

/** Whose cached sums were wrong, hours of usage among those of accounts. */
export interface Rebuilt {
  readonly accountIds: readonly string[];
  readonly tokenIds: readonly string[];
}

export interface LedgerAudit {
  /** Recomputes everything that is cached from the lines; each check sees one moment, so it can run beside the traffic. */
  audit(now: number): Promise<Audit>;
  /** Computes the cached sums again, of accounts from the lines, of tokens and hours from holds and calls, beside the traffic too. */
  rebuild(): Promise<Rebuilt>;
}
