import { ACT_PREFIX, tokenActor } from '../../domain/act.ts';
import type { Act } from '../../domain/act.ts';
import { findDisabledReason } from '../../domain/token.ts';
import type { Token } from '../../domain/token.ts';
import { tokenDisabled, tokensNotAllowed, unknownToken } from '../../billing-refusals.ts';
import type { RevocationParties } from '../../store/tokens/token-store.ts';
import type { BillingDeps } from '../deps.ts';

export interface RevokeRequest {
  readonly id: string;
  /** The token that revokes it, undefined if an operator does. */
  readonly revokerId: string | undefined;
  readonly actor: string;
  /** True if all its descendants end with it. */
  readonly withMade: boolean;
}

/**
 * Ends a token forever, and announces it to the caches of principals. Its descendants end with it, or stay valid within
 * its limits. A repeat ends the tokens that an earlier call left.
 */
export async function revokeToken(
  { tokens, clock, newId, announceToken }: BillingDeps,
  { id, revokerId, actor, withMade }: RevokeRequest,
): Promise<{ readonly token: Token; readonly madeRevoked: number }> {
  const at = clock.now();
  const revoked = await tokens.revoke({ id, at, revokerId, withMade }, (revoking) => {
    const revoker = requireRevoker(revoking, revokerId, at);
    return (token): Act => ({
      id: newId(ACT_PREFIX),
      at,
      actor: revoker === undefined ? actor : tokenActor(revoker),
      action: 'token_revoked',
      subject: token.id,
      reason: '',
      detail: {
        account: token.accountId,
        name: token.name,
        revoked_by: revokerId,
        with_maker: token.id === id ? undefined : id,
      },
    });
  });
  if (revoked === undefined) throw unknownToken('id');
  for (const endedId of revoked.endedIds) announceToken(endedId);
  const { token, endedIds } = revoked;
  if (!endedIds.includes(id)) announceToken(id);
  return { token, madeRevoked: endedIds.filter((endedId) => endedId !== id).length };
}

/**
 * Returns the revoker, or throws a refusal. For a revoker, only itself and its descendants exist. It may always revoke
 * itself.
 */
function requireRevoker(
  { token, makers, revoker }: RevocationParties,
  revokerId: string | undefined,
  now: number,
): Token | undefined {
  if (revokerId === undefined) return undefined;
  if (revoker === undefined) throw unknownToken('revoker_token_id');
  const disabled = findDisabledReason(revoker, now);
  if (disabled !== undefined) throw tokenDisabled(disabled);
  if (revoker.id === token.id) return revoker;
  if (makers.every((maker) => maker.id !== revoker.id)) throw unknownToken('id');
  if (revoker.tokens !== 'write') throw tokensNotAllowed();
  return revoker;
}
