import type { Token } from '../../../console/api/tokens.ts';
import type { SiteToken } from '../../clients/tokens-client.ts';
import { toMoney } from './money-view.ts';

export interface TokenContext {
  readonly currency: string;
  /** The token that the visitor is signed in with. */
  readonly ownTokenId: string;
  /** Default true. */
  readonly canRevoke?: boolean;
}

/** A token without its key. */
export function tokenView(token: SiteToken, { currency, ownTokenId, canRevoke = true }: TokenContext): Token {
  const { id, name, models, limitNanos, usedNanos, webhooks, tokens, createdAt, madeByTokenId } = token;
  const { queue, label, hint, expiresAt, revokedAt, lastChargedAt } = token;
  return {
    id,
    name,
    models,
    ...(limitNanos === undefined ? {} : { limit: toMoney(limitNanos, currency) }),
    used: toMoney(usedNanos, currency),
    limits: limitsView(token),
    webhooks,
    tokens,
    queue,
    ...(label === undefined ? {} : { label }),
    ...(hint === undefined ? {} : { hint }),
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(revokedAt === undefined ? {} : { revokedAt }),
    ...(lastChargedAt === undefined ? {} : { lastChargedAt }),
    isOwn: id === ownTokenId,
    canRevoke,
    ...(madeByTokenId === undefined ? {} : { madeByTokenId }),
  };
}

function limitsView({ limits }: SiteToken): Token['limits'] {
  const { createsPerMinute, readsPerMinute, callsPerMinute, inFlight } = limits;
  return {
    ...(createsPerMinute === undefined ? {} : { createsPerMinute }),
    ...(readsPerMinute === undefined ? {} : { readsPerMinute }),
    ...(callsPerMinute === undefined ? {} : { callsPerMinute }),
    ...(inFlight === undefined ? {} : { inFlight }),
  };
}
