import { disabledBecause } from '../../domain/token.ts';
import type { Token } from '../../domain/token.ts';
import { disabledToken, unknownToken } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

/** The token of this id; refuses one that is not there, and one that has ended. */
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
