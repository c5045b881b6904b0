import type { Token } from '../../domain/token.ts';
import { unknownToken } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

/** Ends a token forever, and announces it to the caches of principals. */
export async function revokeToken(
  { tokens, clock, announceToken }: Pick<BillingDeps, 'tokens' | 'clock' | 'announceToken'>,
  id: string,
): Promise<Token> {
  const token = await tokens.revoke(id, clock.now());
  if (token === undefined) throw unknownToken('id');
  announceToken(id);
  return token;
}
