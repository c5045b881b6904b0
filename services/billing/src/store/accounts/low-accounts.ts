import type { Nanos } from '../../domain/money.ts';

/** The state of a count of the accounts. */
export interface LowAccounts {
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
  /** Counts the next page of accounts. Gives those of the page whose low credit is to be announced at this time. */
  countNext(
    count: LowAccounts,
    now: number,
  ): Promise<{ readonly count: LowAccounts; readonly due: readonly LowCredit[] }>;
  /** Notes that the credit was announced, and when it is announced again; undefined: not again. */
  mark(low: LowCredit, repeatAt: number | undefined): Promise<void>;
}
