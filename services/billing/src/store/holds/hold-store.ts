import type { Hold, HoldRecord, Payer } from '../../domain/hold.ts';
import type { Charge, LedgerLine } from '@reelgate/proto/billing/v1/hold';
import type { Nanos } from '../../domain/money.ts';
import type { PriceFacts } from '../../domain/price.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import type { CostedDecision } from '../../domain/settlement.ts';

export interface NewPrice {
  readonly amount: Nanos;
  readonly facts: PriceFacts;
}

/** The record of a task as it stands, and whether this operation changed it. */
export interface Outcome {
  readonly record: HoldRecord;
  readonly isNew: boolean;
}

/**
 * Every change is one transaction: the event under its unique key, its lines, the hold, the token and the account. An
 * operation decides on the locked hold. If the decision throws, the transaction is rolled back.
 */
export interface HoldStore {
  /**
   * Places the hold unless the task has a record. Refuses if the token or the account does not cover it, or the token
   * has ended. Does not write once the signal is aborted.
   */
  place(hold: Hold, signal?: AbortSignal): Promise<Outcome>;
  /** Throws the refusal that `place` would throw for this amount now. Does not write. */
  assertCovered(payer: Payer, amount: Nanos, now: number): Promise<void>;
  /**
   * Changes the price of the hold, once. Refuses like `place`, and then the hold stays as it was. Returns undefined if
   * there is no hold.
   */
  extend(
    taskId: string,
    at: number,
    reprice: (hold: Hold, terms: PriceTerms) => NewPrice,
  ): Promise<Outcome | undefined>;
  /**
   * Ends the hold, or records its deferral. Returns undefined if the task has no record. If the call `mayRepeat` an
   * earlier one, an ended hold is only read.
   */
  end(
    taskId: string,
    at: number,
    decide: (hold: Hold, terms: PriceTerms) => CostedDecision,
    mayRepeat: boolean,
  ): Promise<Outcome | undefined>;
  /** Writes a void, after which no hold can be placed. Returns false if the task has a record already. */
  preclude(taskId: string, at: number): Promise<boolean>;
  find(taskId: string): Promise<HoldRecord | undefined>;
  /** The charges of the tasks that have a hold, in any order, of one account or of all. */
  charges(taskIds: readonly string[], accountId: string | undefined): Promise<readonly Charge[]>;
  /** Every ledger line of the task, in order. */
  lines(taskId: string): Promise<readonly LedgerLine[]>;
}
