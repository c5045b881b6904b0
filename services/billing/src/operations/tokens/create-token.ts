import { newKey } from '@reelgate/platform/ids';
import { Secret } from '@reelgate/platform/secret';
import { AMOUNT_NANOS_MAX } from '../../domain/money.ts';
import { TOKEN_LIMIT_MAX } from '../../domain/token.ts';
import type { Token } from '../../domain/token.ts';
import { badField } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';
import { findAccount } from '../accounts/find-account.ts';

export const KEY_PREFIX = 'rg';
export const KEY_BYTES = 24;
const MODELS_MAX = 1000;

export type TokenRequest = Pick<Token, 'accountId' | 'name' | 'models' | 'limit' | 'expiresAt' | 'limits'>;
type Deps = Pick<BillingDeps, 'accounts' | 'tokens' | 'hashKey' | 'clock' | 'newId' | 'random'>;

/** Makes a token. Its key is in this result and is not stored. */
export async function createToken(
  deps: Deps,
  request: TokenRequest,
  signal?: AbortSignal,
): Promise<{ readonly token: Token; readonly key: Secret }> {
  const now = deps.clock.now();
  assertSound(request, now);
  await findAccount(deps, request.accountId, 'account_id');
  const key = newKey(KEY_PREFIX, KEY_BYTES, deps.random);
  const token: Token = { ...request, id: deps.newId('token'), used: 0n, createdAt: now, revokedAt: undefined };
  signal?.throwIfAborted();
  const isMade = await deps.tokens.insert({ token, keyHash: deps.hashKey(key), origin: undefined });
  if (!isMade) throw new Error('a new key is taken already: the source of randomness is broken');
  return { token, key: new Secret(key) };
}

function assertSound({ models, limit, expiresAt, limits }: TokenRequest, now: number): void {
  if (models.length === 0 || models.length > MODELS_MAX || models.includes(''))
    throw badField('models', `must name 1 to ${MODELS_MAX} models, or be "*"`);
  if (limit !== undefined && (limit < 0n || limit > AMOUNT_NANOS_MAX))
    throw badField('limit_nanos', `must be from 0 to ${AMOUNT_NANOS_MAX}`);
  if (expiresAt !== undefined && expiresAt <= now) throw badField('expires_at', 'must be in the future');
  if (!Object.values(limits).every(isSoundLimit))
    throw badField('limits', `must be from 1 to ${String(TOKEN_LIMIT_MAX)}, or 0 for the configured number`);
}

function isSoundLimit(own: number | undefined): boolean {
  return own === undefined || (own >= 1 && own <= TOKEN_LIMIT_MAX);
}
