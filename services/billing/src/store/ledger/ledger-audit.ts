import type { LedgerCheck } from '@reelgate/proto/billing/v1/money';
import type { Act } from '@reelgate/proto/access/v1/act';

/** The findings in the lines of the ledger. */
export interface Books {
  /** The number of lines; of a ledger that is too large, a number of lines or calls that it exceeds. */
  readonly entries: bigint;
  /** By currency; zero if the ledger balances. */
  readonly sums: ReadonlyMap<string, bigint>;
  /** One sentence for each fault. */
  readonly faults: readonly string[];
}

/** The findings of an audit of the ledger. */
export interface Audit extends Books {
  /** True if the ledger was too large for a diagnosis, so that only open holds and calls were read. */
  readonly isTooLarge: boolean;
  /** The tasks with an open hold, the oldest first, up to a maximum. */
  readonly openHoldTaskIds: readonly string[];
  /** Open calls, and the open calls that lapsed so long ago that the sweep must have missed them. */
  readonly calls: { readonly open: bigint; readonly overdue: bigint };
}

/** The accounts and tokens with wrong cached sums. Wrong hours of usage count for their account. */
export interface RebuildResult {
  readonly accountIds: readonly string[];
  readonly tokenIds: readonly string[];
}

export interface AuditOptions {
  readonly signal: AbortSignal;
  readonly isDiagnosis: boolean;
}

export interface LedgerAudit {
  /**
   * Compares all cached sums with the lines. Each check sees one moment, so it can run during traffic. Between two
   * checks other work continues, and the signal ends the audit. For a diagnosis a large ledger is not read.
   */
  audit(now: number, options: AuditOptions): Promise<Audit>;
  /**
   * Corrects the cached sums: accounts from the lines, tokens and hours from holds and calls. It can run during
   * traffic.
   */
  rebuild(): Promise<RebuildResult>;
}

/** The state of a round of the check. */
interface LedgerRound {
  readonly after: string;
  /** Faulty events that the round has found. */
  readonly faults: number;
}

export const NEW_ROUND: LedgerRound = { after: '', faults: 0 };

interface LedgerPage {
  readonly round: LedgerRound;
  readonly isLast: boolean;
  /** Faulty events among the newest ones of tasks. */
  readonly newestFaults: number;
}

/** Checks the newest events of tasks, and the next page of a round over all events. */
export type CheckLedgerPage = (round: LedgerRound) => Promise<LedgerPage>;

/** The outcome of a check of the whole ledger, before it is written. */
export interface NewLedgerCheck {
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
  record(check: NewLedgerCheck, act: Act): Promise<void>;
  /** Returns undefined if the ledger was never checked. */
  last(): Promise<LedgerCheck | undefined>;
}
