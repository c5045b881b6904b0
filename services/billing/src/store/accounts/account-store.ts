import type { Credit as BookedCredit } from '@reelgate/proto/billing/v1/money';
import type { Account } from '@reelgate/proto/billing/v1/account_service';
import type { Act } from '@reelgate/proto/access/v1/act';
import type { Credit } from '../../domain/ledger.ts';
import type { Nanos } from '../../domain/money.ts';

export interface AccountStore {
  find(id: string): Promise<Account | undefined>;
  /** The currency never changes, so it is cached. Returns undefined if the account is unknown. */
  findCurrency(id: string): Promise<string | undefined>;
  /** Creates the account with its first credit, unless it exists. Returns whether it was created. */
  create(credit: Credit): Promise<boolean>;
  /**
   * Writes the credit and the act unless the key of the credit is taken. Returns the account and the amount under that
   * key. Refuses a credit that takes the account's balance out of bounds. Does not write once the signal is aborted.
   */
  credit(
    credit: Credit,
    act: Act,
    signal?: AbortSignal,
  ): Promise<{ readonly account: Account; readonly amount: Nanos }>;
  /** The credits of the account, the newest first. */
  credits(accountId: string, limit: number): Promise<readonly BookedCredit[]>;
}

export interface AccountPage {
  readonly limit: number;
  /** The text with which the ids begin. Empty for all accounts. */
  readonly prefix: string;
}

/** The accounts, for operators. A list reads them in parts, so that no statement takes long. */
export interface AccountList {
  /** By id, after the given account. An empty id begins with the first account. */
  byId(page: AccountPage & { readonly after: string }): Promise<readonly Account[]>;
  /** Ordered by available balance, ascending. */
  byFree(page: AccountPage): Promise<readonly Account[]>;
}

/** The state of a count of the accounts. */
interface LowAccounts {
  readonly after: string;
  /** Accounts with less than a tenth of their last credit left, holds taken off. */
  readonly low: number;
  readonly isWhole: boolean;
}

export const NO_ACCOUNTS: LowAccounts = { after: '', low: 0, isWhole: false };

/** The last credit of an account, of which less than a tenth is left. */
export interface LowCredit {
  readonly accountId: string;
  /** ISO 4217. */
  readonly currency: string;
  /** The key of the credit's event. */
  readonly creditKey: string;
  readonly credit: Nanos;
  /** The amount that is left, holds taken off. */
  readonly available: Nanos;
  /** True if the credit has been announced once. */
  readonly isRepeat: boolean;
}

export interface LowAccountStore {
  /**
   * Counts the next page of accounts. Returns the accounts of the page with a low credit that is due to be announced.
   */
  countNext(
    count: LowAccounts,
    now: number,
  ): Promise<{ readonly count: LowAccounts; readonly due: readonly LowCredit[] }>;
  /**
   * Records that the credit was announced, and when it is announced again. `repeatAt` is undefined for the last
   * announcement.
   */
  mark(low: LowCredit, repeatAt: number | undefined): Promise<void>;
}
