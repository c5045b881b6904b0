import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { Principal } from '../clients/billing-client.ts';
import type { Principals, TokenCall } from './principals.ts';
import { isTokenRefusal } from './watch-token.ts';

/** An accepted token and its owner. */
export interface AcceptedToken {
  readonly token: string;
  readonly principal: Principal;
}

/**
 * Finds the principal of the first token that is accepted. Some clients send a placeholder in one header and the token
 * in another. If none is accepted, the refusal of a known token counts before that of an unknown one.
 */
export function findPrincipal(
  principals: Pick<Principals, 'of'>,
  [first = '', ...others]: readonly string[],
  call: TokenCall,
): MaybePromise<AcceptedToken> {
  const found = thenMaybe(principals.of(first, call), (principal) => ({ token: first, principal }));
  const [next] = others;
  if (!(found instanceof Promise) || next === undefined) return found;
  return found.catch(async (refusal: unknown) => {
    if (!isTokenRefusal(refusal)) throw refusal;
    try {
      return await findPrincipal(principals, others, call);
    } catch (error) {
      throw isTokenRefusal(error) && error.kind !== 'forbidden' ? refusal : error;
    }
  });
}
