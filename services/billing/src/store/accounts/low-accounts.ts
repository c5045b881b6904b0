/** Where a count of the accounts stands. */
export interface LowAccounts {
  readonly after: string;
  /** Accounts with less than a tenth of their last credit left, holds taken off. */
  readonly low: number;
  readonly isWhole: boolean;
}

export const NO_ACCOUNTS: LowAccounts = { after: '', low: 0, isWhole: false };

/** Counts the next page of accounts. */
export type CountLowAccounts = (count: LowAccounts) => Promise<LowAccounts>;
