import type { Account } from '../../domain/account.ts';

export interface AccountPage {
  readonly limit: number;
  /** Only accounts whose id begins with this text; empty: all. */
  readonly prefix: string;
}

/** The accounts, for operators. A list reads them in parts, so that no statement takes long. */
export interface AccountList {
  /** By id, those after this one; empty: from the beginning. */
  byId(page: AccountPage & { readonly after: string }): Promise<readonly Account[]>;
  /** By what is free, the least first. */
  byFree(page: AccountPage): Promise<readonly Account[]>;
}
