import type { Account } from '../../domain/account.ts';
import type { Credit } from '../../domain/ledger.ts';
import type { Nanos } from '../../domain/money.ts';

export interface AccountStore {
  find(id: string): Promise<Account | undefined>;
  /** The currency never changes, so it is cached. Undefined: the account is unknown. */
  currencyOf(id: string): Promise<string | undefined>;
  /** Makes the account with its first credit, unless it exists. Gives whether it did. */
  create(credit: Credit): Promise<boolean>;
  /**
   * Writes the credit unless its key is taken. Gives the account and the amount under that key. Refuses a credit that
   * takes the account's balance out of bounds. Writes nothing once the signal is aborted.
   */
  credit(credit: Credit, signal?: AbortSignal): Promise<{ readonly account: Account; readonly amount: Nanos }>;
}
