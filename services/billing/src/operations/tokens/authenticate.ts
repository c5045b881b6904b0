import { disabledBecause } from '../../domain/token.ts';
import type { Principal } from '../../domain/token.ts';
import { measured } from '../../billing-metrics.ts';
import { disabledToken, unknownKey } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

/** The form of a key. Any other text is not looked up. */
const KEY = /^[!-~]{8,256}$/;

/** The token of this key, and its makers. Refuses an unknown key, and a revoked or expired one. */
export function authenticate(
  { tokens, hashesOf, clock, measures }: Pick<BillingDeps, 'tokens' | 'hashesOf' | 'clock' | 'measures'>,
  key: string,
): Promise<Principal> {
  return measured(
    measures.authentication,
    async () => {
      const token = KEY.test(key) ? await tokens.findByKeyHashes(hashesOf(key)) : undefined;
      if (token === undefined) throw unknownKey();
      const disabled = disabledBecause(token, clock.now());
      if (disabled !== undefined) throw disabledToken(disabled);
      return { token, makers: await tokens.findMakers(token) };
    },
    () => 'known',
  );
}
