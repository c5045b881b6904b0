import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding, Implementation } from '@reelgate/platform/rpc/service';
import { creditAccount } from '../operations/accounts/credit-account.ts';
import { findAccount } from '../operations/accounts/find-account.ts';
import { listAccounts } from '../operations/accounts/list-accounts.ts';
import type { BillingDeps } from '../operations/deps.ts';
import { ORDERS, readLimit, toWireAccount, toWireAct, toWireCredit } from './account-mapping.ts';
import { toWireContract } from './billing-mapping.ts';
import { ledgerMethods } from './ledger-methods.ts';
import { tokenMethods } from './token-methods.ts';

type AccountMethods = Pick<
  Implementation<typeof AccountService>,
  'getAccount' | 'creditAccount' | 'listAccounts' | 'listCredits' | 'listActs' | 'listPrices'
>;

/** Decodes, runs the operation, encodes. */
export function accountService(deps: BillingDeps): Binding {
  return bind(AccountService, { ...accountMethods(deps), ...tokenMethods(deps), ...ledgerMethods(deps) });
}

function accountMethods(deps: BillingDeps): AccountMethods {
  return {
    getAccount: async ({ id }) => ({ account: toWireAccount(await findAccount(deps, id, 'id')) }),
    creditAccount: async ({ id, amountNanos, reason, actor, requestId }, { caller, signal }) => {
      const account = await creditAccount(
        deps,
        {
          accountId: id,
          amount: amountNanos,
          reason,
          actor: actor || caller.name,
          requestId: requestId || undefined,
        },
        signal,
      );
      return { account: toWireAccount(account) };
    },
    listAccounts: async ({ limit, after, order, prefix }) => {
      const query = { limit: readLimit(limit), after, prefix, order: ORDERS[order] };
      const { accounts, hasMore } = await listAccounts(deps, query);
      return { accounts: accounts.map(toWireAccount), hasMore };
    },
    listCredits: async ({ accountId, limit }) => {
      await findAccount(deps, accountId, 'account_id');
      return { credits: (await deps.accounts.credits(accountId, readLimit(limit))).map(toWireCredit) };
    },
    listActs: async ({ limit, after, subject }) => ({
      acts: (await deps.acts.list({ limit: readLimit(limit), after, subject })).map(toWireAct),
    }),
    listPrices: async () => ({ contracts: (await deps.prices.list()).map(toWireContract) }),
  };
}
