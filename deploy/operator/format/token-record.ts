import type { Token } from '@reelgate/proto/billing/v1/account_service';
import { formatNanos } from './amount.ts';
import { isoTime } from './times.ts';

export function shownToken(token: Token): object {
  return {
    token_id: token.id,
    account: token.accountId,
    name: token.name,
    models: token.models,
    limit: token.limitNanos === undefined ? undefined : formatNanos(token.limitNanos),
    used: formatNanos(token.usedNanos),
    created_at: isoTime(token.createdAt),
    expires_at: isoTime(token.expiresAt),
    revoked_at: isoTime(token.revokedAt),
    creates_per_minute: token.limits?.createsPerMinute || undefined,
    reads_per_minute: token.limits?.readsPerMinute || undefined,
    calls_per_minute: token.limits?.callsPerMinute || undefined,
    in_flight: token.limits?.inFlight || undefined,
  };
}
