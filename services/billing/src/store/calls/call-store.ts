import type { Problem } from '@reelgate/platform/problem';
import type { Call, CallCharge, CallEnd, CallRecord } from '../../domain/call.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';

/** The record of a call and whether this batch placed it, or the refusal. */
export type PlaceOutcome = { readonly record: CallRecord; readonly isNew: boolean } | { readonly refusal: Problem };

export interface EndOutcome {
  /** Undefined: the call was never placed. After a release it cannot be placed. */
  readonly record: CallRecord | undefined;
  /** What this batch charged. Undefined: the call had ended before, or was never placed. */
  readonly charge: CallCharge | undefined;
}

export interface EndBatch {
  /** Names the batch in the ledger; never used before. */
  readonly batchId: string;
  readonly at: number;
  readonly ends: ReadonlyMap<string, CallEnd>;
  readonly decide: (call: Call, terms: PriceTerms, end: CallEnd) => CallCharge;
}

/**
 * A batch is one transaction: the rows of its calls, the sums of tokens and accounts, and one event for each account.
 */
export interface CallStore {
  /**
   * Places each call unless its id is known. Refuses a call that its token or its account does not cover, in the order
   * of the calls.
   */
  place(batchId: string, calls: readonly Call[]): Promise<ReadonlyMap<string, PlaceOutcome>>;
  /** Ends each call unless it has ended. After the release of an unknown call, that call cannot be placed. */
  end(batch: EndBatch): Promise<ReadonlyMap<string, EndOutcome>>;
  find(ids: readonly string[]): Promise<ReadonlyMap<string, CallRecord>>;
  /** The open calls that have lapsed, the oldest first. */
  lapsed(now: number, limit: number): Promise<readonly string[]>;
  /** Whether a call is open that has not lapsed. */
  areOpen(now: number): Promise<boolean>;
}
