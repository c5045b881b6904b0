import { newKey } from '@reelgate/platform/ids';
import { Secret } from '@reelgate/platform/secret';
import type { Token } from '../../domain/token.ts';
import { badField } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';
import { findAccount } from '../accounts/find-account.ts';

export const KEY_PREFIX = 'rg';
export const KEY_BYTES = 24;

export type TokenRequest = Pick<Token, 'accountId' | 'name' | 'models' | 'limit' | 'expiresAt' | 'limits' | 'webhooks'>;
type Deps = Pick<BillingDeps, 'accounts' | 'tokens' | 'hashesOf' | 'clock' | 'newId' | 'random'>;

/** Makes a token. Its key is in this result and is not stored. */
export async function createToken(
  deps: Deps,
  request: TokenRequest,
  signal?: AbortSignal,
): Promise<{ readonly token: Token; readonly key: Secret }> {
  const now = deps.clock.now();
  if (request.expiresAt !== undefined && request.expiresAt <= now)
    throw badField('expires_at', 'must be in the future');
  await findAccount(deps, request.accountId, 'account_id');
  const key = newKey(KEY_PREFIX, KEY_BYTES, deps.random);
  const token: Token = { ...request, id: deps.newId('token'), used: 0n, createdAt: now, revokedAt: undefined };
  signal?.throwIfAborted();
  const isMade = await deps.tokens.insert({ token, keyHashes: deps.hashesOf(key), origin: undefined });
  if (!isMade) throw new Error('a new key is taken already: the source of randomness is broken');
  return { token, key: new Secret(key) };
}
