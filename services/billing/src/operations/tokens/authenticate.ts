import { runAndCount } from '../../billing-metrics.ts';
import { tokenDisabled, unknownKey, unknownToken } from '../../billing-refusals.ts';
import { findDisabledReason } from '../../domain/token.ts';
import type { Principal } from '../../domain/token.ts';
import type { BillingDeps } from '../deps.ts';

/** The form of a key. Any other text is not looked up. */
const KEY = /^[!-~]{8,256}$/;

/** Finds the token of a key, and its makers. Refuses an unknown key, and a revoked or expired token. */
export function authenticate({ tokens, hashesOf, clock, measures }: BillingDeps, key: string): Promise<Principal> {
  return runAndCount(
    measures.authentication,
    async () => {
      const token = KEY.test(key) ? await tokens.findByKeyHashes(hashesOf(key)) : undefined;
      if (token === undefined) throw unknownKey();
      const disabled = findDisabledReason(token, clock.now());
      if (disabled !== undefined) throw tokenDisabled(disabled);
      return { token, makers: await tokens.findMakers(token) };
    },
    () => 'known',
  );
}

/** Finds the token of an id, and its makers. Refuses an unknown token, and a revoked or expired one. */
export async function findPrincipal({ tokens, clock }: BillingDeps, id: string): Promise<Principal> {
  const token = await tokens.find(id);
  if (token === undefined) throw unknownToken('token_id');
  const disabled = findDisabledReason(token, clock.now());
  if (disabled !== undefined) throw tokenDisabled(disabled);
  return { token, makers: await tokens.findMakers(token) };
}
