import type { Problem } from '@reelgate/platform/problem';
import type { CommitResult } from '@reelgate/platform/sql/sql';
import type { Call, CallEnd, CallRecord, CostedCharge } from '../../domain/call.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import type { Remainder } from '@reelgate/proto/billing/v1/call_service';

/** The record of a call and whether this batch placed it, or the refusal. */
export type PlaceOutcome = { readonly record: CallRecord; readonly isNew: boolean } | { readonly refusal: Problem };

export interface PlaceBatch {
  /** Names the batch in the ledger; never used before. */
  readonly batchId: string;
  readonly calls: readonly Call[];
  /** True if the caller confirms the batch before a client sees an answer. */
  readonly ahead: boolean;
}

export interface PlacedCalls {
  readonly outcomes: ReadonlyMap<string, PlaceOutcome>;
  /** After the batch, of the tokens of which no call was refused. */
  readonly remainders: readonly Remainder[];
}

export interface LapsedCall {
  readonly id: string;
  /** True if a client may have seen an answer. */
  readonly isConfirmed: boolean;
}

export interface EndOutcome {
  /** Undefined if the call was never placed. After a release it cannot be placed. */
  readonly record: CallRecord | undefined;
  /** The charge of this batch; undefined if the call had ended before, or was never placed. */
  readonly charge: CostedCharge | undefined;
}

export interface EndBatch {
  /** Names the batch in the ledger; never used before. */
  readonly batchId: string;
  readonly at: number;
  readonly ends: ReadonlyMap<string, CallEnd>;
  readonly decide: (call: Call, terms: PriceTerms, end: CallEnd) => CostedCharge;
}

/**
 * A batch is one transaction: the rows of its calls, the sums of tokens and accounts, and one event for each account.
 */
export interface CallStore {
  /**
   * Places each call unless its id is known. Refuses a call that its token or its account does not cover, in the order
   * of the calls. The money is reserved at once, so no other batch can take it. A batch `ahead` that is not durable yet
   * stays unconfirmed until `confirm`.
   */
  place(batch: PlaceBatch): Promise<CommitResult<PlacedCalls>>;
  /** From then on a client may see an answer to a call of the batch. */
  confirm(batchId: string): Promise<void>;
  /** Ends each call unless it has ended. After the release of an unknown call, that call cannot be placed. */
  end(batch: EndBatch): Promise<ReadonlyMap<string, EndOutcome>>;
  find(ids: readonly string[]): Promise<ReadonlyMap<string, CallRecord>>;
  /** The open calls that have lapsed, the oldest first. */
  lapsed(now: number, limit: number): Promise<readonly LapsedCall[]>;
  /** Removes the unconfirmed batches of which every call has lapsed; those calls must have ended. */
  removeLapsedBatches(now: number): Promise<void>;
  /** Reports whether a call is open that has not lapsed. */
  areOpen(now: number): Promise<boolean>;
}
