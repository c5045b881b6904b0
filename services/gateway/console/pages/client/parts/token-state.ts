import type { Token } from '../../../api/tokens.ts';

export type TokenState = 'live' | 'expired' | 'revoked';

export function tokenState({ revokedAt, expiresAt }: Pick<Token, 'revokedAt' | 'expiresAt'>, now: number): TokenState {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'live';
}
