import type { Account } from '../../domain/account.ts';
import { badField, unknownAccount } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';
import type { AccountStore } from '../../store/accounts/account-store.ts';

/** The account, or a refusal that names the request's field. */
export async function findAccount(
  { accounts }: { readonly accounts: AccountStore },
  id: string,
  field: string,
): Promise<Account> {
  const account = await accounts.find(id);
  if (account === undefined) throw unknownAccount(field);
  return account;
}

export interface AccountsQuery {
  readonly limit: number;
  /** The account before the page, by id. Empty for the first page. */
  readonly after: string;
  readonly prefix: string;
  readonly order: 'id' | 'balance';
}

export interface ListedAccounts {
  readonly accounts: readonly Account[];
  readonly hasMore: boolean;
}

/** Lists a page of the accounts. The order by available balance, ascending, has only a first page. */
export async function listAccounts(
  { accountList }: BillingDeps,
  { limit, after, prefix, order }: AccountsQuery,
): Promise<ListedAccounts> {
  if (order === 'balance' && after !== '')
    throw badField('after', 'must be empty in this order, which has one page only');
  const page = { limit: limit + 1, prefix };
  const found = await (order === 'id' ? accountList.byId({ ...page, after }) : accountList.byFree(page));
  return { accounts: found.slice(0, limit), hasMore: found.length > limit };
}
