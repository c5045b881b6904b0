import { findDisabledReason } from '../../domain/token.ts';
import type { Principal } from '../../domain/token.ts';
import { tokenDisabled, unknownToken } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

/** The token of this id, and its makers. Refuses an unknown token, and a revoked or expired one. */
export async function findPrincipal(
  { tokens, clock }: Pick<BillingDeps, 'tokens' | 'clock'>,
  id: string,
): Promise<Principal> {
  const token = await tokens.find(id);
  if (token === undefined) throw unknownToken('token_id');
  const disabled = findDisabledReason(token, clock.now());
  if (disabled !== undefined) throw tokenDisabled(disabled);
  return { token, makers: await tokens.findMakers(token) };
}
