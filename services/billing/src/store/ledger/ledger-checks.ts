import type { Act } from '../../domain/act.ts';

/** The outcome of a check of the whole ledger. */
export interface LedgerCheck {
  readonly id: string;
  /** The start of the check, in milliseconds since 1970. */
  readonly at: number;
  readonly tookMs: number;
  readonly isOk: boolean;
  /** The number of lines. */
  readonly entries: bigint;
  /** The first faults, one sentence each. */
  readonly faults: readonly string[];
  readonly actor: string;
}

/** The last checks of the whole ledger. */
export interface LedgerChecks {
  /** Writes the check and the act. Removes the oldest checks. */
  record(check: LedgerCheck, act: Act): Promise<void>;
  /** Undefined: none was made. */
  last(): Promise<LedgerCheck | undefined>;
}
