import { ACT_PREFIX, tokenActor } from '../../domain/act.ts';
import type { Act } from '../../domain/act.ts';
import { disabledBecause } from '../../domain/token.ts';
import type { Token } from '../../domain/token.ts';
import { disabledToken, tokensNotAllowed, unknownToken } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

export interface RevokeRequest {
  readonly id: string;
  /** The token of the same account that revokes it; undefined: an operator does. */
  readonly revokerId: string | undefined;
  readonly actor: string;
}

type Deps = Pick<BillingDeps, 'tokens' | 'clock' | 'newId' | 'announceToken'>;

/** Ends a token forever, and announces it to the caches of principals. */
export async function revokeToken(
  { tokens, clock, newId, announceToken }: Deps,
  { id, revokerId, actor }: RevokeRequest,
): Promise<Token> {
  const at = clock.now();
  const act: Omit<Act, 'actor' | 'detail'> = {
    id: newId(ACT_PREFIX),
    at,
    action: 'token_revoked',
    subject: id,
    reason: '',
  };
  const token = await tokens.revoke({ id, at, revokerId }, (revoked, revoker) => {
    const detail = { account: revoked.accountId, name: revoked.name, revoked_by: revokerId };
    if (revokerId === undefined) return { ...act, actor, detail };
    return { ...act, actor: tokenActor(permitted(revoked, revoker, at)), detail };
  });
  if (token === undefined) throw unknownToken('id');
  announceToken(id);
  return token;
}

/** The revoker, or a refusal. Tokens of other accounts do not exist for it. It may always revoke itself. */
function permitted(token: Token, revoker: Token | undefined, now: number): Token {
  if (revoker === undefined) throw unknownToken('revoker_token_id');
  const disabled = disabledBecause(revoker, now);
  if (disabled !== undefined) throw disabledToken(disabled);
  if (revoker.accountId !== token.accountId) throw unknownToken('id');
  if (revoker.id !== token.id && revoker.tokens !== 'write') throw tokensNotAllowed();
  return revoker;
}
