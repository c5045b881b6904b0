import type { Account } from '../../domain/account.ts';
import { unknownAccount } from '../../billing-refusals.ts';
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
