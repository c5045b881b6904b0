/** An amount in units of its currency, exact, such as `0.40`. */
export interface Money {
  readonly amount: string;
  /** ISO 4217 code. */
  readonly currency: string;
}

/** The source of a charge. */
export type Basis = 'usage' | 'estimate' | 'hold' | 'released' | 'deferred';

/** The money of a task in a list. */
export interface Charge {
  readonly held: Money;
  /** Undefined until it is settled. */
  readonly charged?: Money;
  readonly basis?: Basis;
}

/** The money of a task in full. */
export interface TaskMoney extends Charge {
  /** The key and the version of the price contract that the order was frozen under. */
  readonly contract: string;
  readonly version: number;
  /** The facts that were priced, such as `seconds`. */
  readonly facts: Readonly<Record<string, number>>;
  /** The terms of the contract as in the configuration, or undefined if they are no longer known. */
  readonly terms?: unknown;
  readonly heldAt: number;
  readonly settledAt?: number;
  /** The amount that went back to the account; undefined if the task is not settled. */
  readonly returned?: Money;
  /** Every line of the ledger about it. For clients, books of other parties are left out. */
  readonly lines: readonly LedgerLine[];
}

export interface LedgerLine {
  /** The event, such as `hold` or `settle`. */
  readonly event: string;
  /** The book, such as `available` or `held`. */
  readonly book: string;
  readonly amount: string;
  readonly at: number;
}
