import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { assertOwner } from '@reelgate/platform/rpc/access';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { createToken } from '../operations/tokens/create-token.ts';
import { creditAccount } from '../operations/accounts/credit-account.ts';
import type { BillingDeps } from '../operations/deps.ts';
import { findAccount } from '../operations/accounts/find-account.ts';
import { revokeToken } from '../operations/tokens/revoke-token.ts';
import {
  fromWireLimits,
  fromWireRight,
  fromWireTime,
  toWireAccount,
  toWireContract,
  toWireToken,
} from './billing-mapping.ts';

const TOKENS_MAX = 10_000;

/** Decodes, runs the operation, encodes. */
export function accountService(deps: BillingDeps): Binding {
  return bind(AccountService, {
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
    createToken: async ({ accountId, name, models, limitNanos, expiresAt, limits, webhooks }, { signal }) => {
      const made = await createToken(
        deps,
        {
          accountId,
          name,
          models,
          limit: limitNanos,
          expiresAt: fromWireTime(expiresAt),
          limits: fromWireLimits(limits),
          webhooks: fromWireRight(webhooks),
        },
        signal,
      );
      return { token: toWireToken(made.token), key: made.key.reveal() };
    },
    listTokens: async ({ accountId }) => ({
      tokens: (await deps.tokens.list(accountId || undefined, TOKENS_MAX)).map(toWireToken),
    }),
    revokeToken: async ({ id }, { caller }) => {
      assertOwner(caller, (await deps.tokens.find(id))?.accountId, 'id');
      return { token: toWireToken(await revokeToken(deps, id)) };
    },
    listPrices: async () => ({ contracts: (await deps.prices.list()).map(toWireContract) }),
    rebuildBalances: async (_request, { caller }) => {
      const { accountIds, tokenIds } = await deps.audit.rebuild();
      deps.log.warn({ actor: caller.name, accountIds, tokenIds }, 'the cached sums were rebuilt from the ledger');
      return { accountIds: [...accountIds], tokenIds: [...tokenIds] };
    },
    verifyLedger: async () => {
      const { entries, sums, faults, openHoldTaskIds, calls } = await deps.audit.audit(deps.clock.now());
      return {
        ok: faults.length === 0,
        entries,
        sums: Object.fromEntries(sums),
        faults: [...faults],
        openHoldTaskIds: [...openHoldTaskIds],
        openCalls: calls.open,
        overdueCalls: calls.overdue,
      };
    },
  });
}
