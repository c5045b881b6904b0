import type { Hold, HoldStory } from '../../domain/hold.ts';
import type { LedgerLine } from '../../domain/ledger.ts';
import type { Nanos } from '../../domain/money.ts';
import type { PriceFacts } from '../../domain/price.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import type { Ending } from '../../domain/settlement.ts';

export interface Repricing {
  readonly amount: Nanos;
  readonly facts: PriceFacts;
}

/** A task's story as it stands, and whether this call wrote its last chapter. */
export interface Outcome {
  readonly story: HoldStory;
  readonly isNew: boolean;
}

/**
 * Every change is one transaction: the event under its unique key, its lines, the hold, the token and the account. What an operation
 * decides on is the locked hold; a decision that throws leaves nothing behind.
 */
export interface HoldStore {
  /** Places the hold unless the task has a story. Refuses when the token or the account does not cover it, or the token has ended. Writes nothing once the signal is aborted. */
  place(hold: Hold, signal?: AbortSignal): Promise<Outcome>;
  /** Refuses what placing a hold of this amount would refuse now. Reads and changes nothing. */
  assertCovered(owner: Pick<Hold, 'accountId' | 'tokenId' | 'currency'>, amount: Nanos, now: number): Promise<void>;
  /** Prices the hold again, once. Refuses as placing does, and then the hold stays as it was. Undefined: there is no hold. */
  extend(
    taskId: string,
    at: number,
    reprice: (hold: Hold, terms: PriceTerms) => Repricing,
  ): Promise<Outcome | undefined>;
  /** Ends the hold, or records that it is deferred. Undefined: the task has no story. */
  end(taskId: string, at: number, decide: (hold: Hold, terms: PriceTerms) => Ending): Promise<Outcome | undefined>;
  /** Makes sure that no hold can be placed; false when the task has a story already. */
  preclude(taskId: string, at: number): Promise<boolean>;
  find(taskId: string): Promise<HoldStory | undefined>;
  /** Every line that was posted for the task, in order. */
  lines(taskId: string): Promise<readonly LedgerLine[]>;
}
