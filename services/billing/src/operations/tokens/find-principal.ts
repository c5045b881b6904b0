import { disabledBecause } from '../../domain/token.ts';
import type { Token } from '../../domain/token.ts';
import { disabledToken, unknownToken } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

/** The token of this id. Refuses an unknown token, and a revoked or expired one. */
export async function findPrincipal(
  { tokens, clock }: Pick<BillingDeps, 'tokens' | 'clock'>,
  id: string,
): Promise<Token> {
  const token = await tokens.find(id);
  if (token === undefined) throw unknownToken('token_id');
  const disabled = disabledBecause(token, clock.now());
  if (disabled !== undefined) throw disabledToken(disabled);
  return token;
}
