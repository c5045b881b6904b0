import type { Token } from '@reelgate/proto/billing/v1/account_service';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { formatNanos } from './amount.ts';
import { isoTime } from './times.ts';

export const WEBHOOK_RIGHTS: Readonly<Record<string, WebhookRight>> = {
  write: WebhookRight.WRITE,
  read: WebhookRight.READ,
  none: WebhookRight.NONE,
};

export function rightName(right: WebhookRight): string {
  return Object.entries(WEBHOOK_RIGHTS).find(([, each]) => each === right)?.[0] ?? '';
}

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
    webhooks: rightName(token.webhooks) || undefined,
  };
}
