import type { Account } from '../../domain/account.ts';
import type { Credit } from '../../domain/ledger.ts';
import type { Nanos } from '../../domain/money.ts';

export interface AccountStore {
  find(id: string): Promise<Account | undefined>;
  /** The currency never changes, so once it is known it is not read again; undefined when there is no such account. */
  currencyOf(id: string): Promise<string | undefined>;
  /** Makes the account with its first credit, unless there is one by this id; says whether it did. */
  create(credit: Credit): Promise<boolean>;
  /**
   * Writes the credit unless its key has been used; either way gives the account and the amount under that key.
   * Refuses what would take the account's total out of bounds. Writes nothing once the signal is aborted.
   */
  credit(credit: Credit, signal?: AbortSignal): Promise<{ readonly account: Account; readonly amount: Nanos }>;
}
