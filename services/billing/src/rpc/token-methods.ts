import type { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { assertOwner } from '@reelgate/platform/rpc/access';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { BillingDeps } from '../operations/deps.ts';
import { changeTokenLimits } from '../operations/tokens/change-token-limits.ts';
import { createToken } from '../operations/tokens/create-token.ts';
import { listTokens } from '../operations/tokens/list-tokens.ts';
import { revokeToken } from '../operations/tokens/revoke-token.ts';
import { fromWireLimits, fromWireTokenRequest, toWireListedToken, toWireToken } from './token-mapping.ts';

type TokenMethods = Pick<
  Implementation<typeof AccountService>,
  'createToken' | 'listTokens' | 'revokeToken' | 'updateTokenLimits'
>;

/** Decodes, runs the operation, encodes. */
export function tokenMethods(deps: BillingDeps): TokenMethods {
  return {
    createToken: async (request, { caller, signal }) => {
      const made = await createToken(deps, fromWireTokenRequest(request, caller.name), signal);
      return { token: toWireToken(made.token), key: made.key.reveal() };
    },
    listTokens: async ({ accountId }) => ({
      tokens: (await listTokens(deps, accountId || undefined)).map(toWireListedToken),
    }),
    revokeToken: async ({ id, revokerTokenId, actor, withMade }, { caller }) => {
      assertOwner(caller, (await deps.tokens.find(id))?.accountId, 'id');
      const request = { id, revokerId: revokerTokenId || undefined, actor: actor || caller.name, withMade };
      const { token, madeRevoked } = await revokeToken(deps, request);
      return { token: toWireToken(token), madeRevoked };
    },
    updateTokenLimits: async ({ id, limitNanos, limits, actor, reason }, { caller }) => {
      assertOwner(caller, (await deps.tokens.find(id))?.accountId, 'id');
      const change = { id, limit: limitNanos, limits: fromWireLimits(limits), actor: actor || caller.name, reason };
      return { token: toWireToken(await changeTokenLimits(deps, change)) };
    },
  };
}
