import type { Problem } from '@reelgate/platform/problem';
import type { Call, CallCharge, CallEnd, CallStory } from '../../domain/call.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';

/** A call as it stands and whether this batch has brought it there, or why it may not be made. */
export type PlaceOutcome = { readonly story: CallStory; readonly isNew: boolean } | { readonly refusal: Problem };

export interface EndOutcome {
  /** Undefined: it was never placed; after a release it cannot be. */
  readonly story: CallStory | undefined;
  /** What this batch charged; undefined: it had ended before, or was never placed. */
  readonly charge: CallCharge | undefined;
}

export interface EndBatch {
  /** Names the batch in the books; never used before. */
  readonly batchId: string;
  readonly at: number;
  readonly ends: ReadonlyMap<string, CallEnd>;
  readonly decide: (call: Call, terms: PriceTerms, end: CallEnd) => CallCharge;
}

/** Each batch is one transaction: the rows of its calls, the sums of tokens and accounts, and one event for each account. */
export interface CallStore {
  /** Places each call unless its id is known. Refuses those that the token or the account does not cover, in the order of the calls. */
  place(batchId: string, calls: readonly Call[]): Promise<ReadonlyMap<string, PlaceOutcome>>;
  /** Ends each call unless it has ended. A release of a call that is not there makes sure that it cannot be placed. */
  end(batch: EndBatch): Promise<ReadonlyMap<string, EndOutcome>>;
  find(ids: readonly string[]): Promise<ReadonlyMap<string, CallStory>>;
  /** Open calls whose time is over, the oldest first. */
  lapsed(now: number, limit: number): Promise<readonly string[]>;
  /** Whether a call is open whose time is not over. */
  areOpen(now: number): Promise<boolean>;
}
